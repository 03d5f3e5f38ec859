/** A wait that time alone can end: the saga tries by itself while a person is asked, and never what might be done twice. */
import type { FaultSpec } from '../../../sandbox/faults';
import { setTimeout as pause } from 'node:timers/promises';
import { msToTs, tsToMs } from '@temporalio/common/lib/time';
import { changeOrdersOf, firewallsOf } from '../../../sandbox/sentences';
import type { DecisionName } from '../../../src/domain/decisions';
import type { Route } from '../../../src/domain/notifications';
import { readWorkerConfig } from '../../../src/config';
import { ownTryInMs } from '../../../src/saga/people/human-decisions';
import { sandboxProfile } from '../../support/activity-settings';
import { DecisionRefusedError } from '../../../src/client/errors';
import { ignoreErrors } from '../../../src/domain/ignore-errors';
import { orderThat } from '../../support/orders';
import { bundleOf } from '../../support/programs';
import { replayAll } from '../../support/replay';
import { WebhookReceiver } from '../../support/receiver';
import { changeRequest, provisionRequest } from '../../support/requests';
import { Rig, until } from '../../support/rig';
import { answer, outcomeOf, untilAnother, untilWaiting, untilWaitingOrEnded } from '../../support/sagas';

/** The calls that the budget of the rig's worker allows. */
const budget = 3;
const label = { path: '/servers?account={account}&label={label}', labels: '/data/*/label', labelIsUnique: true };

let ops: WebhookReceiver;
let rig: Rig;
beforeAll(async () => {
  ops = await WebhookReceiver.start();
  const hears: Route['events'] = ['waiting', 'reminder', 'settled', 'ended'];
  const routes: Route[] = [{ name: 'ops', url: ops.url, secret: 'ours', events: hears }];
  rig = await Rig.start({
    // Servers are named by the directory alone, where anything says which they are.
    sandbox: { orderResponse: 'ids', directory: { lag: 0 } },
    secrets: { variable: () => ops.secret },
    activities: {
      ownTriesMs: [400, 200],
      notifications: { routes, allowed: ['127.0.0.1'], timeoutMs: 2_000 },
      profile: { ...sandboxProfile, directory: { ...label, servers: '/data/*/vm_object_id' } },
    },
  });
});
afterEach(() => rig.clear());
afterAll(async () => {
  await rig.close();
  await ops.close();
});

const spoil = (endpoint: FaultSpec['endpoint'], kind: FaultSpec['kind'], changes: Partial<FaultSpec> = {}) =>
  rig.sandbox.faults.add({ endpoint, kind, times: budget, ...changes });
/** Else the wait may be over before anybody has looked. @returns what lets the first own try go */
const holdOwnTry = (endpoint: FaultSpec['endpoint']) => {
  const gate = spoil(endpoint, 'gate', { times: undefined, nth: budget + 1 });
  return () => rig.sandbox.faults.release(gate);
};
const order = (changes: object = {}) => rig.sagas.provision(provisionRequest({ firewalls: [143], ...changes }));
const toldOf = ({ reference }: { reference: string }) =>
  until(async () => {
    const types = ops.typesOf(reference);
    return types.at(-1) === 'saga.ended' && types;
  });
describe('a wait ends by itself, and nobody hears of it', () => {
  it.each<[string, FaultSpec['endpoint'], FaultSpec['kind'], string]>([
    ['at an assignment that nobody answered', 'assign-firewalls', 'error-before', 'assign-firewalls-9'],
    ['at one that may have been done', 'assign-firewalls', 'reset-after', 'assign-firewalls-9'],
    ['at an add of too many calls', 'add-cart-item', 'rate-limit', 'add-cart-item-1'],
    ['at an order of too many calls', 'place-order', 'rate-limit', 'place-order'],
  ])('%s', async (_, endpoint, kind, step) => {
    spoil(endpoint, kind);
    const letTry = holdOwnTry(endpoint);
    const saga = await order();
    const waiting = await untilWaiting(saga, 'stuck');
    letTry();
    expect(waiting.step).toContain(step);
    expect(Date.parse(waiting.nextTryAt ?? '')).toBeGreaterThanOrEqual(Date.parse(waiting.since) + 400);
    const { vmObjectId = 0 } = ((await saga.result()) as { servers: { vmObjectId: number }[] }).servers[0] ?? {};
    expect(firewallsOf(rig.sandbox.ledger, vmObjectId)).toEqual([143]);
    expect((await saga.progress()).decisions).toEqual([]);
    expect(rig.ordersOf(saga)).toHaveLength(1);
    expect(rig.openItems(saga)).toEqual([]);
    expect(await toldOf(saga)).toEqual(['saga.ended']);
  });

  it('at a delete, while it undoes', async () => {
    spoil('place-order', 'refuse-before', { status: 402 });
    spoil('delete-cart-item', 'error-before');
    const letTry = holdOwnTry('delete-cart-item');
    const saga = await order();
    await untilWaiting(saga, 'stuck');
    letTry();
    expect(await outcomeOf(saga)).toMatchObject({ failure: { type: 'OrderRejected', report: { leftovers: [] } } });
    expect(await toldOf(saga)).toEqual(['saga.ended']);
  });

  it('at a quote that comes to be stuck while it tries to place a change', async () => {
    await rig.restartWith({ ownTriesMs: [3_000], quoteMaxAgeMs: 2_000 });
    spoil('place-change-order', 'rate-limit');
    const request = changeRequest();
    const saga = await rig.sagas.change(request);
    const { id } = await untilWaiting(saga, 'stuck');
    spoil('quote-change-order', 'error-before');
    expect(await untilAnother(saga, id)).toMatchObject({ kind: 'stuck', step: 'quote' });
    await saga.result();
    expect(changeOrdersOf(rig.sandbox.ledger, request.subscription_id)).toHaveLength(1);
    await rig.restartWith({});
  });
});

it('is told of when the first own try has failed, under the question that was asked first', async () => {
  spoil('assign-firewalls', 'error-before', { times: budget });
  const letTry = holdOwnTry('assign-firewalls');
  spoil('assign-firewalls', 'error-before', { times: undefined, nth: budget + 1 });
  const saga = await order();
  const { id, nextTryAt = '' } = await untilWaiting(saga, 'stuck');
  expect(ops.typesOf(saga.reference)).toEqual([]);
  letTry();
  const { waiting } = await until(async () => {
    const progress = await saga.progress();
    return (progress.waiting?.nextTryAt ?? nextTryAt) !== nextTryAt && progress;
  });
  expect(waiting).toMatchObject({ id, step: expect.stringContaining('assign') as string });
  await saga.result();
  expect(await toldOf(saga)).toEqual(['saga.waiting', 'saga.settled', 'saga.ended']);
  const [asked, settled] = ops.messagesOf(saga.reference);
  expect(asked?.data).toMatchObject({ question: id, failure: 'UnknownOutcome' });
  expect(settled?.data).toMatchObject({ question: id, state: 'running' });
  expect(settled?.data.decision).toBeUndefined();
});

describe('waits for a person alone, who hears of it at once,', () => {
  const askedAtOnce = async (saga: Awaited<ReturnType<typeof order>>) => {
    const waiting = await untilWaiting(saga);
    expect(waiting.nextTryAt).toBeUndefined();
    await until(async () => ops.typesOf(saga.reference).length > 0);
    return waiting;
  };

  it.each<[string, (FaultSpec['kind'] | FaultSpec)[]]>([
    ['an add of unknown outcome', ['reset-after', 'reset-before', 'error-before']],
    ['an add that was not done, after one of unknown outcome', ['reset-after', 'rate-limit', 'rate-limit']],
    ['an add that is forbidden', ['forbidden']],
    ['an add that our credentials do not allow', ['unauthorized']],
  ])('%s', async (_, kinds) => {
    kinds.forEach((kind, index) =>
      spoil('add-cart-item', kind as FaultSpec['kind'], { times: undefined, nth: index + 1 }),
    );
    const saga = await order();
    await askedAtOnce(saga);
    const calls = rig.callsOf(saga, 'add-cart-item').length;
    // Whatever it does by itself in the time of two tries.
    await order().then((other) => other.result());
    expect(rig.callsOf(saga, 'add-cart-item')).toHaveLength(calls);
    await answer(saga, 'retry');
    await saga.result();
  });

  it('a try that would fall behind the deadline, which ends the saga', async () => {
    spoil('add-cart-item', 'rate-limit', { times: 'all' });
    const saga = await order({ notAfter: new Date(Date.now() + 300).toISOString() });
    const { nextTryAt } = (await untilWaitingOrEnded(saga)) ?? {};
    expect(nextTryAt).toBeUndefined();
    expect(await outcomeOf(saga)).toMatchObject({ failure: { type: 'DeadlinePassed', report: { leftovers: [] } } });
  });
});

describe('an order of unknown outcome', () => {
  it('is only looked for again, in the directory, and is found', async () => {
    rig.sandbox.configure({ directory: { lag: 14 } });
    spoil('place-order', 'reset-after', { times: 1 });
    const saga = await order();
    const waiting = await untilWaiting(saga, 'outcome-unknown');
    expect(waiting.nextTryAt).toBeDefined();
    expect(await saga.result()).toMatchObject({ servers: [{ verified: true }], decisions: [] });
    expect(rig.callsOf(saga, 'place-order')).toHaveLength(1);
  });

  it('counts as placed once it is found, whatever a person says during the look', async () => {
    rig.sandbox.configure({ directory: { lag: 14 } });
    spoil('place-order', 'reset-after', { times: 1 });
    const saga = await order();
    await untilWaiting(saga, 'outcome-unknown');
    rig.sandbox.configure({ directory: { lag: 0 } });
    const gate = spoil('find-servers', 'gate', { times: 1 });
    await rig.sandbox.whenStruck(gate);
    await answer(saga, 'confirmNotPlaced', { note: 'I do not see it', by: 'ann' });
    rig.sandbox.faults.release(gate);
    await saga.result();
    expect(rig.ordersOf(saga)).toHaveLength(1);
  });

  it('is not looked for, and not ordered again, once the profile has lost its directory: a person ends the wait', async () => {
    rig.sandbox.configure({ directory: { lag: 10_000 } });
    spoil('place-order', 'reset-after', { times: 1 });
    const saga = await order();
    const { id } = await untilWaiting(saga, 'outcome-unknown');
    await rig.restartWith({ profile: { ...sandboxProfile, directory: undefined } });
    const looks = () => rig.callsOf(saga, 'find-servers').length;
    const made = looks();
    // Its first own look is over.
    await until(async () => ops.typesOf(saga.reference).includes('saga.waiting'));
    expect([(await saga.progress()).waiting?.id, looks()]).toEqual([id, made]);
    await answer(saga, 'confirmPlaced', { note: 'seen', by: 'ann', vmObjectIds: [...rig.serversOf(saga)] });
    expect(await saga.result()).toMatchObject({ servers: [{ verified: true }] });
    expect(rig.callsOf(saga, 'place-order')).toHaveLength(1);
    await rig.restartWith({});
  });
});

it('goes by its timers, also where the clock is set back during the wait', async () => {
  spoil('assign-firewalls', 'error-before', { times: budget + 2 });
  const saga = await order();
  await saga.result();
  const history = await rig.runOf(saga).fetchHistory();
  const events = history.events ?? [];
  const calls = events.filter(
    (one) => one.activityTaskScheduledEventAttributes?.activityType?.name === 'assignFirewalls',
  );
  const firstOwn = events.indexOf(calls[budget]!);
  const fired = events.slice(0, firstOwn).findLastIndex((one) => one.timerFiredEventAttributes);
  expect(fired).toBeGreaterThan(0);
  for (const event of events.slice(fired)) event.eventTime = msToTs(tsToMs(event.eventTime) - 3_600_000);
  expect(await replayAll({ bundle: bundleOf() }, [{ workflowId: saga.workflowId, history }])).toEqual([
    { workflowId: saga.workflowId },
  ]);
});

describe('a decision that comes during an own try is taken, and applies after it:', () => {
  /** Held while the third call is repeated by itself. */
  async function trying(succeeds: boolean) {
    const endpoint = 'assign-firewalls';
    spoil(endpoint, 'error-before', { times: budget });
    const gate = spoil(endpoint, 'gate', { times: undefined, nth: budget + 1 });
    if (!succeeds) spoil(endpoint, 'error-before', { times: undefined, nth: budget + 1 });
    const saga = await order();
    const { id } = await untilWaiting(saga, 'stuck');
    await rig.sandbox.whenStruck(gate);
    expect((await saga.progress()).waiting).toMatchObject({ id });
    return { saga, id, release: () => rig.sandbox.faults.release(gate) };
  }

  const isProtected = { outcome: 'done', servers: [{ firewalls: [143] }] };
  const isBare = { outcome: 'partly', servers: [{ firewalls: [], verified: false }] };
  it.each<[DecisionName, boolean, object]>([
    ['retry', true, { result: isProtected }],
    ['retry', false, { result: isProtected }],
    ['skip', true, { result: isProtected }],
    ['skip', false, { result: isBare }],
    ['markCancelled', true, { failure: { type: 'OrderCancelled' } }],
  ])('%s, where the try succeeds: %j', async (decision, succeeds, expected) => {
    const { saga, id, release } = await trying(succeeds);
    const taken = await saga.decide(decision, { question: id, by: 'ann', note: 'so I say' });
    expect(taken).toMatchObject({ taken: decision });
    const { steps, state } = await saga.progress();
    expect([state, steps.find(({ id }) => id.startsWith('assign'))?.status]).toEqual(['running', 'running']);
    release();
    expect(await outcomeOf(saga)).toMatchObject(expected);
    expect((await saga.progress()).decisions).toMatchObject([{ decision, question: id }]);
    expect(rig.ordersOf(saga)).toHaveLength(1);
  });

  it('a cancellation', async () => {
    const { saga, release } = await trying(true);
    await saga.cancel({ by: 'ann', note: 'not wanted' });
    release();
    expect((await outcomeOf(saga)).cancelled).toBeDefined();
    expect(rig.ordersOf(saga)).toHaveLength(1);
  });
});

it('at whichever moment of an own try a person decides, nothing is added or ordered twice', async () => {
  await rig.restartWith({ ownTriesMs: [1_000] });
  await Promise.all(
    Array.from({ length: 16 }, async (_, nth) => {
      const endpoint = 'add-cart-item';
      const { saga } = await orderThat(rig, [
        { endpoint, kind: 'rate-limit', times: budget },
        { endpoint, kind: 'slow', delayMs: 300, nth: budget + 1 },
      ]);
      const { id, nextTryAt = '' } = await untilWaiting(saga, 'stuck');
      await pause(Math.max(0, Date.parse(nextTryAt) - 200 + nth * 50 - Date.now()));
      // The try may have ended the wait.
      const taken = await saga.decide('retry', { question: id, by: 'ann' }).catch(ignoreErrors(DecisionRefusedError));
      await saga.result();
      expect((await saga.progress()).decisions).toHaveLength(taken ? 1 : 0);
      expect([rig.callsOf(saga, endpoint).length, rig.ordersOf(saga).length]).toEqual([budget + 1, 1]);
      expect(rig.openItems(saga)).toEqual([]);
    }),
  );
  await rig.restartWith({});
});

describe('when it tries', () => {
  const enough = { PROVIDER_BASE_URL: 'https://provider.example', TEMPORAL_ADDRESS: 'localhost:7233' };
  const [minutesMs, hoursMs] = [60_000, 3_600_000];
  const delaysMs = [5 * minutesMs, 15 * minutesMs, 40 * minutesMs, ...Array<number>(6).fill(4 * hoursMs), 24 * hoursMs];

  it('is 5, 20 and 60 minutes after it began, then each four hours, then daily; later by a quarter at most', () => {
    let sinceMs = 0;
    const times = Array.from(
      { length: 12 },
      (_, made) => (sinceMs += ownTryInMs(delaysMs, made, Infinity, 0)) / hoursMs,
    );
    expect(times).toEqual([5 / 60, 20 / 60, 1, 5, 9, 13, 17, 21, 25, 49, 73, 97]);
    expect(readWorkerConfig(enough).activities.ownTriesMs).toEqual(delaysMs);
    expect(ownTryInMs([1_000], 7, Infinity, 0.999_999)).toBe(1_250);
  });

  it('is never behind the deadline, and never without a setting', () => {
    expect(ownTryInMs([1_000], 0, 1_000, 0)).toBe(Infinity);
    expect(ownTryInMs([1_000], 0, 1_001, 0)).toBe(1_000);
    expect(ownTryInMs([], 0, Infinity, 0)).toBe(Infinity);
  });

  it('is so rare that a wait of 60 days takes less than 1,000 events', async () => {
    let [sinceMs, most] = [0, 0];
    while ((sinceMs += ownTryInMs(delaysMs, most, Infinity, 0)) < 60 * 24 * hoursMs) most += 1;
    expect(most).toBe(67);
    await rig.restartWith({ ownTriesMs: [1] });
    spoil('assign-firewalls', 'error-before', { times: budget + 9 });
    const saga = await order();
    await saga.result();
    const { events } = await rig.runOf(saga).fetchHistory();
    const calls = (events ?? []).flatMap(({ eventId, activityTaskScheduledEventAttributes: scheduled }) =>
      scheduled?.activityType?.name === 'assignFirewalls' ? [Number(eventId)] : [],
    );
    expect(calls).toHaveLength(budget + 10);
    const eventsOfTry = (calls.at(-1)! - calls[budget]!) / 9;
    // Beside a whole order of one server, and its reminders.
    expect(most * eventsOfTry + 150).toBeLessThan(1_000);
    await rig.restartWith({});
  });
});
