import { changeOrdersOf } from '../../../sandbox/sentences';
import { changeRequest } from '../../support/requests';
import { rigForFile } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';

const rig = rigForFile();

const changesOf = ({ subscription_id }: { subscription_id: number }) =>
  changeOrdersOf(rig.sandbox.ledger, subscription_id);
const callsAbout = ({ subscription_id }: { subscription_id: number }) =>
  rig.sandbox.ledger.calls.filter(({ names }) => names.subscriptionId?.includes(subscription_id));
const placingFault = ({ subscription_id }: { subscription_id: number }, kind: string) =>
  rig.sandbox.faults.add({
    endpoint: 'place-change-order',
    match: { subscriptionId: subscription_id },
    kind,
  } as never);

it('quotes, and places what is available', async () => {
  const request = changeRequest({ resources: [{ resource_name: 'vm_backup', delta_value: 2 }] });
  const result = await (await rig.sagas.change(request)).result();
  expect(result).toMatchObject({
    reference: request.reference,
    quote: { available: true, total: 10, currency: 'usd' },
    placed: true,
    order: { status: 'accepted' },
    decisions: [],
  });
  expect(changesOf(request)).toMatchObject([{ resources: [{ resource_name: 'vm_backup', delta_value: '2' }] }]);
});

it('places nothing that is not available', async () => {
  const request = changeRequest();
  rig.sandbox.configure({ unavailableSubscriptions: [request.subscription_id] });
  const { failure } = await outcomeOf(await rig.sagas.change(request));
  expect(failure).toMatchObject({ type: 'ChangeNotAvailable', report: { known: { quote: { available: false } } } });
  expect(callsAbout(request).map(({ endpoint }) => endpoint)).toEqual(['quote-change-order']);
});

it.each([
  [{ maxTotal: 4.99 }, /total is 5.*allows 4.99/],
  [{ currency: 'EUR' }, /usd.*eur/],
])('places nothing that breaks the guard %p', async (guard, message) => {
  const request = changeRequest({ guard });
  const { failure } = await outcomeOf(await rig.sagas.change(request));
  expect(failure?.type).toBe('GuardViolated');
  expect(failure?.report.why).toMatch(message);
  expect(changesOf(request)).toEqual([]);
});

describe('resources that do not apply', () => {
  beforeAll(() => {
    rig.sandbox.configure({ inapplicableResources: ['china_route'] });
  });
  const resources = [{ resource_name: 'china_route', delta_value: '1' }];

  it('break the guard, also one that was never given', async () => {
    const request = changeRequest({ resources });
    expect((await outcomeOf(await rig.sagas.change(request))).failure?.type).toBe('GuardViolated');
    expect(changesOf(request)).toEqual([]);
  });
});

const neverPlacesTwice = async (kind: string) => {
  const request = changeRequest();
  placingFault(request, kind);
  const saga = await rig.sagas.change(request);
  expect(await untilWaiting(saga)).toMatchObject({ kind: 'outcome-unknown', step: 'place-change-order' });
  await expect(answer(saga, 'confirmPlaced', { note: 'x', vmObjectIds: [1] })).rejects.toThrow(/no servers/);
  await answer(saga, 'confirmPlaced', { note: 'it is in the panel' });
  expect(await saga.result()).toMatchObject({ order: null, decisions: [{ decision: 'confirmPlaced' }] });
  expect(changesOf(request)).toHaveLength(1);
};
it.each(['reset-after'])('never places twice after %s', neverPlacesTwice);

it('asks for the terms again before it places after a wait', async () => {
  const request = changeRequest({ guard: { maxTotal: 5 } });
  placingFault(request, 'unauthorized');
  const saga = await rig.sagas.change(request);
  await untilWaiting(saga, 'stuck');
  rig.sandbox.configure({ resourcePrices: { vm_backup: 6 } });
  try {
    await answer(saga, 'retry');
    expect((await outcomeOf(saga)).failure?.type).toBe('GuardViolated');
    expect(changesOf(request)).toEqual([]);
  } finally {
    rig.sandbox.configure({ resourcePrices: { vm_backup: 5 } });
  }
});

describe('approval', () => {
  it('is asked for above the limit, and the approved quote is asked for again before placing', async () => {
    const request = changeRequest({ approval: { above: 4 } });
    const saga = await rig.sagas.change(request);
    expect(await untilWaiting(saga)).toMatchObject({ kind: 'approval', choices: ['approve', 'reject'] });
    expect(changesOf(request)).toEqual([]);
    await answer(saga, 'approve', { by: 'boss' });
    expect(await saga.result()).toMatchObject({ decisions: [{ decision: 'approve', by: 'boss' }] });
    expect(callsAbout(request).map(({ endpoint }) => endpoint)).toEqual([
      'quote-change-order',
      'quote-change-order',
      'place-change-order',
    ]);
  });

  it('of a price that moved is asked for again', async () => {
    const request = changeRequest({ approval: 'always' });
    const saga = await rig.sagas.change(request);
    await untilWaiting(saga);
    rig.sandbox.configure({ resourcePrices: { vm_backup: 7 } });
    try {
      await answer(saga, 'approve');
      const waiting = await untilWaiting(saga);
      expect(waiting.question).toMatch(/Approve 7 usd.*The approved quote, 5 usd/s);
      expect(changesOf(request)).toEqual([]);
      await answer(saga, 'approve');
      expect(await saga.result()).toMatchObject({ quote: { total: 7 } });
      expect(changesOf(request)).toMatchObject([{ total: 7 }]);
    } finally {
      rig.sandbox.configure({ resourcePrices: { vm_backup: 5 } });
    }
  });
});
