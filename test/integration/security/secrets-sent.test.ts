/** What one worker told the provider does not show in what the provider tells another one. */
import { rigForFile } from '../../support/rig';
import { provisionRequest } from '../../support/requests';
import { answer, outcomeOf, untilAnother, untilWaiting } from '../../support/sagas';

const password = 'canary/7Qx-"never-shown"-kZ';
const filed = 'canary-in-a-file-8Rv';
const rig = rigForFile({ secrets: { variable: (name) => (name === 'SECRET_WEB_ROOT' ? filed : undefined) } });

type Item = Parameters<typeof provisionRequest>[0] extends { items?: infer I } | undefined ? I : never;

/** A saga whose item was added by a worker that is gone, when its order is about to be sent. */
async function addedByAnother(item: object, more: object = {}) {
  const request = provisionRequest({ items: [item] as Item, ...more });
  const match = { label: request.label };
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized', match });
  const saga = await rig.sagas.provision(request);
  await untilWaiting(saga);
  await rig.replaceWorkers({});
  return { saga, match };
}

/** All of the history that is no request and no argument of ours. */
async function toldIn(workflowId: string): Promise<string> {
  const { events } = await rig.runOf({ workflowId }).fetchHistory();
  const told = (events ?? []).flatMap((event) => [
    event.activityTaskCompletedEventAttributes?.result,
    event.activityTaskFailedEventAttributes?.failure,
    event.workflowExecutionCompletedEventAttributes?.result,
    event.workflowExecutionFailedEventAttributes?.failure,
  ]);
  return textOf(told);
}

const textOf = (value: unknown): string => {
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.values(value).map(textOf).join('\n');
};

const journalOf = (reference: string) =>
  rig.withJournal(async (journal) => {
    const rows = await journal.db.selectFrom('effect').selectAll().where('reference', '=', reference).execute();
    const sealed = rows.map((row) => textOf(row)).join('\n');
    return [...sealed.matchAll(/"data":"([^"]+)"/g)].map(([, data = '']) => Buffer.from(data, 'base64')).join('\n');
  });

it('a refused order that quotes the password is blanked by a worker that did not send it', async () => {
  const { saga, match } = await addedByAnother({ password });
  const body = { message: `the password ${password} is too weak` };
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'refuse-before', match, body });
  await answer(saga, 'retry');
  const { failure } = await outcomeOf(saga);
  expect(failure?.report.why).toContain('the password [redacted] is too weak');
  const told = await toldIn(saga.workflowId);
  expect(told).toContain('[redacted]');
  expect(told).not.toContain('never-shown');
});

it('the answer of an order that went well tells no secret: not by its name, not by its value', async () => {
  const { saga, match } = await addedByAnother({ password }, { firewalls: [143] });
  const generated = 'made-by-the-provider-3Wq';
  const body = {
    status: 'accepted',
    order_id: 4711,
    vm_object_ids: [9_001],
    root_password: generated,
    servers: [{ Password: generated, sshKey: generated, note: `its password is ${password}.` }],
  };
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'other-body', match, body });
  const vmObjectId = 9_001;
  const quoting = { errors: [`server 9001, password ${password}`] };
  rig.sandbox.faults.add({
    endpoint: 'assign-firewalls',
    kind: 'refuse-before',
    status: 402,
    match: { vmObjectId },
    body: quoting,
  });
  await answer(saga, 'retry');
  const { question } = await untilWaiting(saga);
  await answer(saga, 'retry');
  const result = await saga.result();
  expect(result).toMatchObject({
    order: {
      order_id: 4711,
      vm_object_ids: [9_001],
      root_password: '[redacted]',
      servers: [{ Password: '[redacted]', sshKey: '[redacted]', note: 'its password is [redacted].' }],
    },
    servers: [{ vmObjectId: 9_001, verified: true }],
  });
  const shown = [question, JSON.stringify(await saga.progress()), await toldIn(saga.workflowId)].join('\n');
  const journal = await journalOf(saga.reference);
  for (const text of [shown, journal, JSON.stringify(result)]) {
    expect(text).toContain('[redacted]');
    expect(text).not.toContain('never-shown');
    expect(text).not.toContain(generated);
  }
});

it('the refusal of one item that quotes the corrected password of another is blanked by another worker', async () => {
  const items = [{ plan_id: 71 }, { plan_id: 72 }];
  const [one, other] = items.map(({ plan_id: planId }) => ({ endpoint: 'add-cart-item', match: { planId } }) as const);
  rig.sandbox.faults.add({ ...one!, kind: 'unauthorized' });
  rig.sandbox.faults.add({ ...other!, kind: 'unauthorized', times: 2 });
  const body = { message: `beside ${password} it is too weak` };
  rig.sandbox.faults.add({ ...other!, kind: 'refuse-before', nth: 3, body });
  const saga = await rig.sagas.provision(provisionRequest({ items }));
  const { id } = await untilWaiting(saga);
  await answer(saga, 'retry', { correction: { item: 1, password } });
  await untilAnother(saga, id);
  await rig.replaceWorkers({});
  await answer(saga, 'retry');
  const { failure } = await outcomeOf(saga);
  expect(failure?.report.why).toContain('beside [redacted] it is too weak');
  expect(await toldIn(saga.workflowId)).not.toContain('never-shown');
});
