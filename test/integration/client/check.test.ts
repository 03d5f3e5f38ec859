/** What a request would meet, asked before anything is sent. */
import { NotCheckedError } from '../../../src/client/errors';
import { parsePriceList } from '../../../src/config/price-list';
import { parseSpendLimits } from '../../../src/domain/spending';
import { runHere } from '../../support/command-line';
import { changeRequest, firewallsRequest, provisionRequest, switchRequest } from '../../support/requests';
import { rigForFile, until } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';

const rig = rigForFile({
  activities: {
    priceList: parsePriceList('{"currency":"USD","plans":[{"plan_id":17,"billing_cycle":1,"price":10}]}'),
    duplicateWithinMs: 3_600_000,
    spendLimits: parseSpendLimits('ZZ-1=3 servers/1h'),
  },
  clears: true,
});
/** A namespace that no worker ever comes to. */
const bare = rigForFile({ worker: false, replays: () => false });

const order = (changes: object = {}) => provisionRequest({ items: [{ plan_id: 17 }], account: 'ZZ-1', ...changes });
const nothingAgainst = { problems: [], refused: [], asks: [], unknown: [] };

it('an order that goes through: its price, its limit, and a reference that stays free', async () => {
  const request = order();
  const expected = { ...nothingAgainst, reference: 'free', total: 10, currency: 'usd' };
  const limits = [{ account: 'ZZ-1', most: 3, unit: 'servers', withinMs: 3_600_000, spent: 0, adds: 1 }];
  expect(await rig.sagas.check(request)).toEqual({ ...expected, limits });
  expect(await rig.sagas.check(request)).toEqual({ ...expected, limits });
  expect(rig.callsOf(request)).toEqual([]);
  expect(await rig.recordOf({ workflow: 'provisionServers', ...request })).toBeUndefined();
  const { reference: _, ...unnamed } = request;
  expect(await rig.sagas.check(unnamed)).toEqual({ ...nothingAgainst, total: 10, currency: 'usd', limits });

  // What it has said is what the saga meets.
  await (await rig.sagas.provision(request)).result();
  expect(await rig.sagas.check(request)).toEqual({ ...nothingAgainst, reference: 'same', limits: [] });
  expect(await rig.sagas.check({ ...request, label: 'another' })).toMatchObject({
    refused: ['the reference belongs to another request'],
    reference: 'taken',
  });
  const more = order({ items: [{ plan_id: 17, quantity: 3 }] });
  expect(await rig.sagas.check(more)).toMatchObject({ asks: [{ kind: 'over-limit' }], limits: [{ adds: 3 }] });
  const { asks } = await rig.sagas.check(order());
  expect(asks).toEqual([{ kind: 'duplicate', why: expect.stringContaining(request.reference) as string }]);
});

it('whoever would be asked, or refused, before the order is sent', async () => {
  const guard = { maxServers: 1 };
  const tooMany = order({ account: 'AB-5', items: [{ plan_id: 17, quantity: 2 }], guard });
  expect(await rig.sagas.check(tooMany)).toMatchObject({
    refused: ['the request orders 2 servers and the guard allows 1'],
  });
  const request = order({ account: 'AB-6', approval: 'always', items: [{ plan_id: 17, billing_cycle: 12 }] });
  const report = await rig.sagas.check(request);
  expect(report).toMatchObject({ asks: [{ kind: 'approval' }], limits: [] });
  expect(report.unpriced).toMatch(/has no price for item 1/);
  expect(await rig.sagas.check({ ...request, notAfter: '2020-01-01T00:00:00Z' })).toMatchObject({
    refused: [expect.stringContaining('not after') as string],
  });
  await rig.sagas.hold({ by: 'ann', note: 'a window' });
  expect(await rig.sagas.check(request)).toMatchObject({ held: expect.stringContaining('ann') as string });
  await rig.sagas.release();
});

it('each alternative in the place of its item: its price, and who would be asked or why it is passed over', async () => {
  const alternatives = [{ billing_cycle: 12 }, { plan_id: 17, os_template_id: 9 }];
  const guard = { maxTotal: 20 };
  const request = order({ account: 'AB-11', guard, items: [{ plan_id: 17, alternatives }] });
  const asks = [{ kind: 'approval', why: expect.stringContaining('no price for item 1') as string }];
  const report = await rig.sagas.check(request);
  expect(report).toMatchObject({
    ...nothingAgainst,
    total: 10,
    alternatives: [
      { item: 1, alternative: 1, refused: [], asks, unpriced: expect.stringContaining('item 1') as string },
      { item: 1, alternative: 2, refused: [], asks: [], total: 10, currency: 'usd' },
    ],
  });
  const dearer = order({ ...request, guard: { maxTotal: 5 } });
  const { out } = await runHere(['check', '-'], JSON.stringify(dearer), rig.environment);
  expect(out).toMatch(/sold out +item 1, alternative 1: .*no price.*approval/);
});

it('a change and a switch at their quotes, which nobody places', async () => {
  const change = changeRequest({ guard: { maxTotal: 0.5, currency: 'USD' } });
  const refused = [expect.stringContaining('the guard allows 0.5') as string];
  expect(await rig.sagas.check(change)).toMatchObject({ refused, quote: { available: true } });
  const plan = switchRequest({ plan_id: 39 });
  expect(await rig.sagas.check(plan)).toMatchObject({ ...nothingAgainst, quote: { available: true, currency: 'usd' } });
  rig.sandbox.configure({ unavailablePlans: [39] });
  expect(await rig.sagas.check(plan)).toMatchObject({ refused: ['the provider says that it is not available'] });
  expect(await rig.sagas.check({ ...plan, onRefusal: 'ask' })).toMatchObject({ asks: [{ kind: 'refused' }] });
  rig.sandbox.faults.add({ endpoint: 'quote-change-order', kind: 'reset-before' });
  expect(await rig.sagas.check(change)).toMatchObject({
    refused: [],
    unknown: [expect.stringMatching(/^the quote: /) as string],
  });
  const called = new Set(rig.sandbox.ledger.calls.map(({ endpoint }) => endpoint));
  expect(called).not.toContain('place-change-order');
  expect(called).not.toContain('switch-plan');
});

it('what is wrong with a request, by the rules of the worker', async () => {
  expect(await rig.sagas.check({ ...firewallsRequest(), assign: [] })).toMatchObject({
    problems: [{}],
  });
  expect(await rig.sagas.check(firewallsRequest())).toEqual({ ...nothingAgainst, reference: 'free', limits: [] });
  await expect(rig.sagas.check({ reference: 'x' })).rejects.toThrow('it needs one of items, resources');
  await expect(rig.sagas.check({ ...order(), plan_id: 3 })).rejects.toThrow('is of no workflow');
  const byHand = { workflowId: 'check/by-hand', taskQueue: 'order-saga', args: [{ workflow: 'cleanCart' }] };
  await expect(rig.temporal.workflow.execute('check', byHand)).rejects.toMatchObject({
    cause: { type: 'InvalidRequest' },
  });
});

it.each<[string, Record<string, unknown>, number, string]>([
  ['goes through', { account: 'AB-7' }, 0, 'it would go through\n'],
  ['asks', { account: 'AB-8', approval: 'always' }, 4, 'it would ask a person before anything is bought\n'],
  ['is refused', { account: 'AB-9', guard: { maxItems: 0 } }, 1, 'it would end without a purchase\n'],
  ['is wrong', { account: 7 }, 2, 'the request is wrong\n'],
])('from the command line, one that %s', async (_, changes, status, sentence) => {
  // Of another plan each: none is a duplicate.
  const request = JSON.stringify(provisionRequest(changes));
  const ended = await runHere(['check', '-'], request, rig.environment);
  expect(ended).toMatchObject({ status, out: expect.stringContaining(sentence) as string });
  expect(ended.out).not.toContain('a password');
});

it('without a worker it says so', async () => {
  await expect(bare.sagas.check(order(), { withinMs: 1_000 })).rejects.toThrow(NotCheckedError);
});

it('what the provider refuses to quote is asked about where the request says so', async () => {
  const request = changeRequest({ onRefusal: 'ask' });
  rig.sandbox.faults.add({ endpoint: 'quote-change-order', kind: 'refuse-before', times: 2 });
  expect(await rig.sagas.check(request)).toMatchObject({ refused: [], asks: [{ kind: 'refused' }] });
  const saga = await rig.sagas.change(request);
  expect((await untilWaiting(saga)).kind).toBe('refused');
  await saga.cancel();
});

it('who only wants a quote is asked nothing, and refused nothing', async () => {
  const request = changeRequest({ quoteOnly: true, approval: 'always', guard: { maxTotal: 0.01, currency: 'USD' } });
  expect(await rig.sagas.check(request)).toMatchObject({ ...nothingAgainst, quote: { available: true } });
});

it('a reference whose saga is held is not free', async () => {
  await rig.sagas.hold({ by: 'ann', note: 'a window' });
  const request = order({ account: 'AB-11' });
  const saga = await rig.sagas.provision(request);
  await until(async () => (await rig.sagas.countHeld()) > 0);
  expect(await rig.sagas.check({ ...request, label: 'another' })).toMatchObject({ reference: 'started' });
  await rig.sagas.release();
  await saga.cancel();
});

it('a subscription at which another saga works', async () => {
  const first = switchRequest({ approval: 'always' });
  const saga = await rig.sagas.switch(first);
  await untilWaiting(saga);
  const second = switchRequest({ subscription_id: first.subscription_id, plan_id: 22 });
  expect(await rig.sagas.check(second)).toMatchObject({ ...nothingAgainst, behind: saga.workflowId });
  const { status, out } = await runHere(['check', '-'], JSON.stringify(second), rig.environment);
  expect([status, out]).toEqual([0, expect.stringContaining(`it would go through once ${saga.workflowId} has ended`)]);
  await answer(saga, 'reject');
  await outcomeOf(saga);
  expect(await rig.sagas.check(second)).not.toHaveProperty('behind');
});

it('whatever else a saga would meet', async () => {
  const late = firewallsRequest({ notAfter: '2020-01-01T00:00:00Z' });
  expect(await rig.sagas.check(late)).toMatchObject({ refused: [expect.stringContaining('not after') as string] });
  const secret = order({ account: 'AB-12', items: [{ plan_id: 17, password: { secret: 'web-root' } }] });
  expect((await rig.sagas.check(secret)).unknown).toEqual(['a secret: there is no secret web-root for password']);
  const repair = firewallsRequest({ reference: 'reconcile-20260101000000-7' });
  await expect(rig.sagas.check(repair)).rejects.toThrow('is how a sweep names');
  const mark = (restored_ms: number | null) =>
    rig.withJournal(({ db }) => db.updateTable('journal').set({ restored_ms }).execute());
  await mark(Date.now());
  expect((await rig.sagas.check(order({ account: 'AB-13' }))).unknown).toEqual([
    expect.stringContaining('an older copy') as string,
  ]);
  await mark(null);
});

it('one that is ended from outside is an error of ours', async () => {
  rig.sandbox.faults.add({ endpoint: 'quote-change-order', kind: 'hang-before' });
  const checking = rig.sagas.check(changeRequest()).catch((error: unknown) => error);
  const query = "WorkflowType='check' AND ExecutionStatus='Running'";
  await until(async () => {
    for await (const run of rig.temporal.workflow.list({ query })) {
      // The list may still show one that has ended.
      const ended = () => rig.runOf(run).terminate();
      if (await ended().catch(() => undefined)) return true;
    }
    return false;
  });
  expect(await checking).toBeInstanceOf(NotCheckedError);
});

it('an approval that was given is the saga’s own: a check asks as the saga did', async () => {
  const request = order({ account: 'AB-10', approval: 'always', items: [{ plan_id: 17, billing_cycle: 3 }] });
  const { asks } = await rig.sagas.check(request);
  const waiting = await untilWaiting(await rig.sagas.provision(request), 'approval');
  expect(asks.map(({ kind }) => kind)).toEqual([waiting.kind]);
});
