/** Listing: each filter shows the sagas that are in that state, and no others. */
import { OrderSagaClient } from '../../../src/client/client';
import type { SagaHandle } from '../../../src/client/handle';
import type { SagaFilter, SagaRow } from '../../../src/client/saga-list';
import { changeRequest, firewallsRequest, provisionRequest, switchRequest } from '../../support/requests';
import { resetTo } from '../../support/web-ui';
import { rigForFile, until } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';
import { listOf } from '../../support/listed';

const rig = rigForFile();
const sagas: Record<string, SagaHandle> = {};

const rows = (filter: SagaFilter): Promise<SagaRow[]> => listOf(rig.sagas.list(filter));

/** Visibility lags behind: looks until it shows what is expected, or the test's time is over. */
async function untilListed(filter: SagaFilter, expected: (SagaHandle | undefined)[]): Promise<SagaRow[]> {
  const ids = expected.map((saga) => saga?.workflowId ?? 'not started').sort();
  let seen: string[] = [];
  try {
    return await until(async () => {
      const found = await rows(filter);
      seen = found.map(({ workflowId }) => workflowId).sort();
      return JSON.stringify(seen) === JSON.stringify(ids) ? found : undefined;
    });
  } finally {
    expect(seen).toEqual(ids);
  }
}

const startSwitch = (changes: Record<string, unknown>) => rig.sagas.start('switchPlan', switchRequest(changes));

beforeAll(async () => {
  const started = {
    approval: await startSwitch({ approval: 'always' }),
    resumed: await rig.sagas.start('changeOrder', {
      ...changeRequest({ approval: 'always', metadata: { 'cost-centre': '4711', ticket: 'OPS 7=7' } }),
      account: 'AB-5',
    }),
    done: await startSwitch({ quoteOnly: true }),
    doneAfterWaiting: await startSwitch({ approval: 'always' }),
    failed: await startSwitch({ guard: { maxTotal: 0 } }),
    cancelled: await startSwitch({ approval: 'always' }),
    terminated: await startSwitch({ approval: 'always' }),
    reset: await startSwitch({ approval: 'always' }),
  };
  Object.assign(sagas, started);
  const { approval, resumed, doneAfterWaiting, cancelled, terminated, reset, done, failed } = started;
  await Promise.all(
    [approval, resumed, doneAfterWaiting, cancelled, terminated, reset].map((saga) => untilWaiting(saga)),
  );
  await answer(doneAfterWaiting, 'approve');
  await cancelled.cancel();
  await Promise.all([doneAfterWaiting, cancelled, done, failed].map(outcomeOf));
  await rig.runOf(terminated).terminate();
  await resetTo(rig.temporal, reset, 4);
  await untilWaiting(reset);
  // Nobody works on this one, so that it runs for as long as the tests.
  const elsewhere = new OrderSagaClient(rig.temporal, { taskQueue: 'nobody' });
  sagas['untouched'] = await elsewhere.start('switchPlan', switchRequest());
});

it.each<[NonNullable<SagaFilter['state']>, string[]]>([
  ['approval', ['approval', 'resumed', 'reset']],
  ['waiting', ['approval', 'resumed', 'reset']],
  ['running', ['untouched']],
  ['done', ['done', 'doneAfterWaiting']],
  ['reversed', ['failed', 'cancelled']],
  ['failed', ['failed']],
  ['cancelled', ['cancelled']],
  ['lost', ['terminated']],
])('state %s shows %j', async (state, names) => {
  const found = await untilListed(
    { state },
    names.map((name) => sagas[name]),
  );
  const shown: Record<string, string> = { waiting: 'approval', failed: 'reversed', cancelled: 'reversed' };
  const expected = shown[state] ?? state;
  for (const row of found) expect(row.state).toBe(expected);
});

it('tells where a saga waits, since when, and for whom', async () => {
  const [row] = await untilListed({ workflow: 'changeOrder' }, [sagas['resumed']]);
  const { waiting } = (await sagas['resumed']?.progress()) ?? {};
  expect(row).toMatchObject({
    workflowId: sagas['resumed']?.workflowId,
    reference: sagas['resumed']?.reference,
    workflow: 'changeOrder',
    status: 'RUNNING',
    state: 'approval',
    step: waiting?.step,
    account: 'AB-5',
    closeTime: undefined,
  });
  expect(row?.waitingSince?.toISOString()).toBe(waiting?.since);
});

it.each<[SagaFilter]>([
  [{ account: 'AB-5' }],
  [{ step: 'place-ch*', account: 'AB-5' }],
  [{ metadata: 'cost-centre=4711' }],
  [{ metadata: 'ticket=OPS 7=7', where: `ProviderAccount = 'AB-5'` }],
])('finds it by %j', (filter) => untilListed(filter, [sagas['resumed']]));

it('finds nothing by another word, and says what is wrong with a filter', async () => {
  expect(await rows({ metadata: 'ticket=OPS' })).toEqual([]);
  await expect(rows({ where: 'Nothing =' })).rejects.toThrow(/where: Temporal does not understand it/);
});

it('shows a saga of which a call is paused', async () => {
  const request = changeRequest();
  const { subscription_id: subscriptionId } = request;
  const gate = rig.sandbox.faults.add({ endpoint: 'place-change-order', match: { subscriptionId }, kind: 'gate' });
  const saga = await rig.sagas.start('changeOrder', request);
  await rig.sandbox.whenStruck(gate);
  const { namespace } = rig;
  const execution = { workflowId: saga.workflowId };
  await rig.temporal.workflowService.pauseActivity({ namespace, execution, type: 'placeChangeOrder' });
  const [row] = await untilListed({ state: 'paused' }, [saga]);
  expect(row).toMatchObject({ state: 'paused', status: 'RUNNING' });
  await rig.temporal.workflowService.unpauseActivity({ namespace, execution, type: 'placeChangeOrder' });
  await untilListed({ state: 'paused' }, []);
  rig.sandbox.faults.release(gate);
  await saga.result();
});

describe('by a server shows', () => {
  it('the saga that bought it, and those that change its firewalls', async () => {
    const bought = await rig.sagas.provision(provisionRequest({ items: [{ quantity: 2 }] }));
    const [one = 0, two = 0] = (await bought.result()).servers.map(({ vmObjectId }) => vmObjectId);
    const changed = await rig.sagas.firewalls(firewallsRequest({ vmObjectId: two }));
    await untilListed({ server: one }, [bought]);
    await untilListed({ server: two }, [bought, changed]);
    await untilListed({ server: two, workflow: 'setFirewalls' }, [changed]);
  });

  it('an order of more servers than one attribute takes, by each of the first hundred', async () => {
    // As long as ids can be.
    const vmObjectIds = Array.from({ length: 150 }, (_, index) => Number.MAX_SAFE_INTEGER - index);
    const many = provisionRequest({ items: [{ quantity: 150 }] });
    const body = { status: 'accepted', vm_object_ids: vmObjectIds };
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'other-body', body, match: { label: many.label } });
    const bought = await rig.sagas.provision(many);
    expect((await bought.result()).servers).toHaveLength(150);
    await untilListed({ server: vmObjectIds[99] ?? 0 }, [bought]);
    await untilListed({ server: vmObjectIds[100] ?? 0 }, []);
  });
});
