/** Change orders and switches of plans are quoted before they are placed. */
import { setTimeout as pause } from 'node:timers/promises';
import { inWords } from '../../../src/domain/times';
import { changeOrdersOf, switchesOf } from '../../../sandbox/sentences';
import { changeRequest, switchRequest } from '../../support/requests';
import { rigForFile, until } from '../../support/rig';
import { answer, outcomeOf, untilAnother, untilWaiting } from '../../support/sagas';
import { resetToBeginning } from '../../support/web-ui';

const unavailablePlan = 404;

const rig = rigForFile({
  sandbox: {
    unavailableResources: ['china_route'],
    inapplicableResources: ['vm_antiddos'],
    unavailablePlans: [unavailablePlan],
  },
  clears: true,
  onPostgres: true,
});

type Request = ReturnType<typeof changeRequest> | ReturnType<typeof switchRequest>;

const resources = (resource_name: string, delta_value: string | number = '1') => [{ resource_name, delta_value }];
const change = (changes: object = {}) => changeRequest({ onRefusal: 'fail', ...changes });
const changesOf = ({ subscription_id }: Request) => changeOrdersOf(rig.sandbox.ledger, subscription_id);
const switchesBy = ({ subscription_id }: Request) => switchesOf(rig.sandbox.ledger, subscription_id);
const endpointsOf = ({ subscription_id }: Request) =>
  rig.sandbox.ledger.calls
    .filter(({ names }) => names.subscriptionId?.includes(subscription_id))
    .map(({ endpoint }) => endpoint);

it('a change is quoted, and placed where it is available', async () => {
  const request = change({ resources: resources('vm_backup', 2) });
  expect(await (await rig.sagas.change(request)).result()).toMatchObject({
    reference: request.reference,
    quote: { available: true, total: 10, currency: 'usd' },
    placed: true,
    order: { status: 'accepted' },
    decisions: [],
  });
  // A number is sent as the numeric string that it is.
  expect(changesOf(request)).toMatchObject([{ resources: resources('vm_backup', '2') }]);
});

it('tells when a switch was made at other terms than quoted', async () => {
  const request = switchRequest();
  const body = { available: true, total: 32, currency: 'usd', date_from: '2026-01-01', date_to: '2026-02-01' };
  const match = { subscriptionId: request.subscription_id };
  rig.sandbox.faults.add({ endpoint: 'switch-plan', kind: 'other-body', body, match });
  const saga = await rig.sagas.switch(request);
  expect(await saga.result()).toMatchObject({ quote: { total: 31 }, finalQuote: { total: 32 } });
  expect((await saga.progress()).steps.at(-1)?.detail).toBe(
    'switched on other terms: 32 usd, 2026-01-01 to 2026-02-01',
  );
});

it.each([
  ['not available', 'ChangeNotAvailable', /./, { resources: resources('china_route') }],
  ['dearer than the guard allows', 'GuardViolated', /total is 5.*allows 4.99/, { guard: { maxTotal: 4.99 } }],
  ['in part not applicable, guard or no guard', 'GuardViolated', /./, { resources: resources('vm_antiddos') }],
])('a change that is %s is not placed', async (_what, type, why, changes) => {
  const request = change(changes);
  const { failure } = await outcomeOf(await rig.sagas.change(request));
  expect(failure).toMatchObject({ type, report: { why: expect.stringMatching(why) as string } });
  expect(endpointsOf(request)).toEqual(['quote-change-order']);
});

it('a change in another currency than the guard’s is asked about', async () => {
  const request = change({ guard: { currency: 'EUR', maxTotal: 100 } });
  const saga = await rig.sagas.change(request);
  expect((await untilWaiting(saga, 'approval')).question).toContain('The guard is in EUR, and the price in usd.');
  await answer(saga, 'reject', { reason: 'too uncertain' });
  expect((await outcomeOf(saga)).failure?.type).toBe('NotApproved');
  expect(changesOf(request)).toEqual([]);
});

it('a switch to what is not available is not made', async () => {
  const request = switchRequest({ plan_id: unavailablePlan });
  expect((await outcomeOf(await rig.sagas.switch(request))).failure?.type).toBe('SwitchNotAvailable');
  expect(endpointsOf(request)).toEqual(['quote-plan-switch']);
});

it('asks for the terms again before it places after a wait', async () => {
  const request = change({ guard: { maxTotal: 5 } });
  const match = { subscriptionId: request.subscription_id };
  rig.sandbox.faults.add({ endpoint: 'place-change-order', kind: 'unauthorized', match });
  const saga = await rig.sagas.change(request);
  await untilWaiting(saga, 'stuck');
  rig.sandbox.configure({ resourcePrices: { vm_backup: 6 } });
  await answer(saga, 'retry');
  expect((await outcomeOf(saga)).failure?.type).toBe('GuardViolated');
  expect(changesOf(request)).toEqual([]);
});

it('has a total above the limit approved, and asks for the approved quote again before placing', async () => {
  const request = change({ approval: { above: 4 } });
  const saga = await rig.sagas.change(request);
  expect(await untilWaiting(saga)).toMatchObject({ kind: 'approval', choices: ['approve', 'reject'] });
  expect(changesOf(request)).toEqual([]);
  await answer(saga, 'approve', { by: 'boss' });
  expect(await saga.result()).toMatchObject({ decisions: [{ decision: 'approve', by: 'boss' }] });
  expect(endpointsOf(request)).toEqual(['quote-change-order', 'quote-change-order', 'place-change-order']);
});

describe('what is not available is asked about where the request says so, and corrected:', () => {
  it('a change order', async () => {
    const request = change({ onRefusal: 'ask', resources: resources('china_route') });
    const saga = await rig.sagas.change(request);
    const waiting = await untilWaiting(saga);
    expect(waiting).toMatchObject({ kind: 'refused', step: 'quote', choices: ['retry'] });
    expect(waiting.question).toBe(
      'Refused: “Quote the change order” was not done. The provider says that it is not available. ' +
        'Retry with a correction, or as it is; or request cancellation.',
    );
    await answer(saga, 'retry', { correction: { resources: resources('vm_backup', 2) } });
    expect(await saga.result()).toMatchObject({ outcome: 'done', quote: { total: 10 } });
    expect(changesOf(request)).toMatchObject([{ resources: resources('vm_backup', '2') }]);
  });

  it('a switch, to another plan', async () => {
    const request = switchRequest({ onRefusal: 'ask', plan_id: unavailablePlan });
    const saga = await rig.sagas.switch(request);
    await untilWaiting(saga, 'refused');
    await expect(answer(saga, 'retry', { correction: { plan_id: 0 } })).rejects.toThrow(
      'plan_id: must be a whole number above 0',
    );
    await answer(saga, 'retry', { correction: { plan_id: 22 } });
    expect((await saga.result()).outcome).toBe('done');
    expect(switchesBy(request)).toMatchObject([{ planId: 22 }]);
  });
});

describe('an approval that expires', () => {
  it('is rejected', async () => {
    const request = changeRequest({ approval: { above: 1, expiresAfterSeconds: 1 } });
    const { failure } = await outcomeOf(await rig.sagas.change(request));
    expect(failure).toMatchObject({
      type: 'NotApproved',
      report: { decisions: [{ decision: 'reject', kind: 'approval', question: expect.any(String) as string }] },
    });
    expect(failure?.report.why).toMatch(/^rejected: nobody answered until .* UTC$/);
    expect(changesOf(request)).toEqual([]);
  });

  it('is no more after its end, which the refusal names, also where no worker ran at that time', async () => {
    const request = changeRequest({ approval: { expiresAfterSeconds: 2 } });
    const saga = await rig.sagas.change(request);
    const { id, expiresAt = '' } = await untilWaiting(saga, 'approval');
    let approving: Promise<unknown> | undefined;
    await rig.withoutWorkers(async () => {
      await until(() => Date.now() > Date.parse(expiresAt));
      approving = saga.decide('approve', { question: id, by: 'op' }).catch((error: unknown) => error);
    });
    expect((await outcomeOf(saga)).failure).toMatchObject({ type: 'NotApproved' });
    expect(String(await approving)).toContain(`ended on ${inWords(expiresAt)}`);
    expect(changesOf(request)).toEqual([]);
  });

  it('says until when it can be given', async () => {
    const saga = await rig.sagas.switch(switchRequest({ approval: { expiresAfterSeconds: 86_400 } }));
    const { question, since, expiresAt } = await untilWaiting(saga, 'approval');
    expect(Date.parse(expiresAt!) - Date.parse(since)).toBe(86_400_000);
    expect(question).toMatch(/ Without an answer it is rejected on .* UTC\.$/);
    await answer(saga, 'approve');
    expect(await saga.result()).toMatchObject({ decisions: [{ decision: 'approve' }] });
  });
});

it('an approval that took too long is asked for again, with a new quote', async () => {
  await rig.restartWith({ approvalMaxAgeMs: 0 });
  const request = changeRequest({ approval: 'always' });
  const saga = await rig.sagas.change(request);
  const { id } = await untilWaiting(saga, 'approval');
  await answer(saga, 'approve');
  await untilAnother(saga, id);
  expect(changesOf(request)).toEqual([]);
  await saga.cancel();
  await outcomeOf(saga);
});

it('a run that was reset to before its approval asks nobody twice', async () => {
  await rig.restartWith({});
  const request = changeRequest({ approval: 'always' });
  rig.sandbox.faults.add({
    ...{ endpoint: 'place-change-order', kind: 'unauthorized', times: 1 },
    match: { subscriptionId: request.subscription_id },
  });
  const saga = await rig.sagas.change(request);
  await untilWaiting(saga, 'approval');
  await answer(saga, 'approve', { by: 'boss' });
  await untilWaiting(saga, 'stuck');
  await resetToBeginning(rig.temporal, saga);
  expect(await rig.latest('changeOrder', saga).result()).toMatchObject({ outcome: 'done', decisions: [] });
  expect(changesOf(request)).toHaveLength(1);
});

it('a quote that grew old is approved anew before the pivot is tried again, at another price', async () => {
  // Longer than a quote and a pivot take on a busy machine, and shorter than the provider asks to wait.
  await rig.restartWith({ quoteMaxAgeMs: 4_000 });
  const request = changeRequest({ approval: 'always' });
  const match = { subscriptionId: request.subscription_id };
  const tooMany = { endpoint: 'place-change-order', kind: 'rate-limit', retryAfter: 5 } as const;
  const slowed = rig.sandbox.faults.add({ ...tooMany, match });
  const saga = await rig.sagas.change(request);
  await untilWaiting(saga, 'approval');
  await answer(saga, 'approve');
  await rig.sandbox.whenStruck(slowed);
  rig.sandbox.configure({ resourcePrices: { vm_backup: 6 } });
  expect((await untilWaiting(saga, 'approval')).question).toMatch(/^Approve .*: 6 usd.* It was approved at 5 usd/s);
  await answer(saga, 'approve');
  expect(await saga.result()).toMatchObject({ quote: { total: 6 } });
  expect(changesOf(request)).toMatchObject([{ total: 6 }]);
});

it('a quote grows old also while no worker reads it', async () => {
  await rig.restartWith({ quoteMaxAgeMs: 2_000 });
  const request = changeRequest();
  const match = { subscriptionId: request.subscription_id };
  const gate = rig.sandbox.faults.add({ endpoint: 'quote-change-order', kind: 'gate', match });
  const saga = await rig.sagas.change(request);
  await rig.sandbox.whenStruck(gate);
  // The worker waits for its call, and takes no other task.
  const away = rig.withoutWorkers(() => pause(3_000));
  await pause(500);
  rig.sandbox.faults.release(gate);
  await away;
  expect(await saga.result()).toMatchObject({ outcome: 'done' });
  expect(endpointsOf(request)).toEqual(['quote-change-order', 'quote-change-order', 'place-change-order']);
});
