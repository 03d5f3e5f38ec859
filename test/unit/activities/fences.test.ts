/** Who does not own the reference any more, or stood still, does not send: whichever clock shows it, and wherever. */
import { notOwned } from '../../../src/activities/effect';
import { ProviderClient } from '../../../src/provider/client';
import { rigSettings } from '../../support/activity-settings';
import { cartItem } from '../../support/requests';
import { providerAt } from '../../support/stand-in';
import {
  journalThat,
  LoneActivities,
  nothingSent,
  stand,
  standAlone,
  temporalThat,
  type LoneSaga,
} from './lone-activities';

standAlone();
afterEach(() => {
  jest.restoreAllMocks();
});

const sendWithinMs = 5_000;
const settings = { ...rigSettings, sendWithinMs };

const add = { step: 'add-cart-item-1', number: 1, item: cartItem() };
let servers = 5000;
/** Of a server of its own: a server is of one order. */
const assign = () => ({ step: 'assign', vmObjectId: ++servers, firewalls: [143] });
const change = { subscription_id: 5512, resources: [{ resource_name: 'vm_backup', delta_value: '1' }] } as const;
const placeChange = { step: 'place-change-order', change: { ...change, resources: [...change.resources] } };

/** The clocks of this process, as the test moves them. */
function clocks() {
  const moved = { monotonicMs: 0, wallMs: 0 };
  const { now } = performance;
  const { now: wallNow } = Date;
  jest.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + moved.monotonicMs);
  jest.spyOn(Date, 'now').mockImplementation(() => wallNow() + moved.wallMs);
  return moved;
}

type Clocks = ReturnType<typeof clocks>;

const minute = 60_000;
const stopped = { monotonicMs: minute, wallMs: minute };
const standstills: [string, Partial<Clocks>][] = [
  ['a process that was stopped', stopped],
  ['a machine that slept', { wallMs: minute }],
  ['a process that was stopped, and whose wall clock was put back', { monotonicMs: minute, wallMs: -minute }],
];

/** Some time passes between an intent and its sending. */
const pausing = (pause: () => void) =>
  journalThat(stand.journal, (real) => ({
    intend: async (intent) => {
      const intended = await real.intend(intent);
      pause();
      return intended;
    },
  }));

const stoodStill = {
  failure: 'StoodStill',
  message: expect.stringMatching(/was not sent: it was intended \d+ ms ago, and may not be wanted any more$/) as string,
  retryInMs: expect.any(Number) as number,
};

describe.each(standstills)('%s', (_, passed) => {
  it.each<[string, (saga: LoneSaga) => ReturnType<LoneSaga['refusal']>]>([
    ['a pivot', (saga) => saga.refusal('placeChangeOrder', placeChange)],
    ['an item', (saga) => saga.refusal('addCartItem', add)],
    ['an undo', (saga) => saga.refusal('deleteCartItem', { step: add.step, cartItemId: 1 })],
    ['firewalls', (saga) => saga.refusal('assignFirewalls', assign())],
  ])('does not send what it had intended: %s', async (__, refused) => {
    const moved = clocks();
    const saga = stand.saga({ journal: pausing(() => Object.assign(moved, passed)), settings });
    expect(await nothingSent(() => refused(saga))).toMatchObject(stoodStill);
    expect(await saga.outcomes()).toEqual([expect.stringMatching(/ not-done StoodStill$/)]);
  });
});

it('a call leaves until the last millisecond, and not in the next one', async () => {
  const frozen = { monotonicMs: 1_000, wallMs: Date.now() };
  jest.spyOn(performance, 'now').mockImplementation(() => frozen.monotonicMs);
  jest.spyOn(Date, 'now').mockImplementation(() => frozen.wallMs);
  for (const clock of ['monotonicMs', 'wallMs'] as const) {
    const place = (ms: number) =>
      stand.saga({ journal: pausing(() => (frozen[clock] += ms)), settings }).do('placeChangeOrder', placeChange);
    await expect(place(sendWithinMs + 1)).rejects.toThrow(`it was intended ${sendWithinMs + 1} ms ago`);
    expect(await place(sendWithinMs)).toMatchObject({ value: { how: 'answered' } });
  }
});

it('a process that stood still while it got another token does not send again', async () => {
  const own = await LoneActivities.start({ token: 'a new one' });
  const moved = clocks();
  const tokens = ['an old one', 'a new one'];
  const readToken = () => {
    const token = tokens.shift()!;
    if (tokens.length === 0) Object.assign(moved, stopped);
    return token;
  };
  const provider = new ProviderClient({ ...providerAt(own.sandbox.url), readToken });
  try {
    const saga = own.saga({ provider, settings });
    expect(await saga.refusal('placeChangeOrder', placeChange)).toMatchObject(stoodStill);
    expect(own.sandbox.ledger.calls.map(({ status }) => status)).toEqual([401]);
    expect(await saga.outcomes()).toEqual(['place-change-order pivot not-done StoodStill']);
  } finally {
    await provider.close();
    await own.close();
  }
});

it('a slow store of secrets does not cost the time to leave', async () => {
  const moved = clocks();
  const resolve = () => {
    Object.assign(moved, stopped);
    return Promise.resolve('a root password');
  };
  const item = cartItem({ password: { secret: 'root' } });
  const saga = stand.saga({ settings, secrets: { resolve } });
  expect(await saga.do('addCartItem', { ...add, item })).toMatchObject({ value: {} });
});

describe('a call of a begin that does not own the reference any more', () => {
  it.each<[string, object]>([
    ['addCartItem', add],
    ['deleteCartItem', { step: add.step, cartItemId: 5 }],
    ['assignFirewalls', assign()],
    ['unassignFirewalls', assign()],
    ['placeOrder', { step: 'place-order', order: { account: 'AB-1', cartItems: [] } }],
    ['placeChangeOrder', placeChange],
    ['switchPlan', { step: 'switch-plan', change: { subscription_id: 6001, plan_id: 21 } }],
  ])('is not sent: %s', async (name, input) => {
    const saga = stand.saga() as LoneSaga & { refusal: (...args: unknown[]) => Promise<unknown> };
    const { cursor } = await saga.do('addCartItem', { ...add, step: 'another' });
    await saga.again().do('addCartItem', { ...add, step: 'of another run' });
    saga.owns = false;
    const failure = { failure: 'StateChanged', message: `${notOwned}; nothing was sent`, notOwned: true };
    expect(await nothingSent(() => saga.refusal(name, { ...input, cursor }))).toEqual(failure);
    expect(await saga.rows()).toHaveLength(2);
  });
});

describe('a time that has passed', () => {
  const notAfter = '2026-01-01T00:00:00Z';

  it.each<[string, (saga: LoneSaga) => ReturnType<LoneSaga['refusal']>]>([
    ['a pivot', (saga) => saga.refusal('placeChangeOrder', { ...placeChange, notAfter })],
    ['an item', (saga) => saga.refusal('addCartItem', { ...add, notAfter })],
    ['firewalls', (saga) => saga.refusal('assignFirewalls', { ...assign(), notAfter })],
  ])('lets nothing leave: %s', async (_, refused) => {
    const saga = stand.saga({ settings });
    const failure = await nothingSent(() => refused(saga));
    const message = `was not sent: the request says “not after ${notAfter}”`;
    expect(failure).toMatchObject({ failure: 'DeadlinePassed', message });
    expect(failure).not.toHaveProperty('retryInMs');
    expect(await saga.outcomes()).toEqual([expect.stringMatching(/ not-done DeadlinePassed$/)]);
  });

  it('does not hold up an undo', async () => {
    const saga = stand.saga({ settings });
    const before = stand.calls;
    await saga.do('assignFirewalls', { ...assign(), undoing: true, notAfter });
    expect(stand.calls).toBe(before + 1);
  });

  it('of a quote lets no pivot leave, and is quoted again', async () => {
    const placed = () => stand.saga({ settings }).refusal('placeChangeOrder', { ...placeChange, quoteUntil: notAfter });
    expect(await nothingSent(placed)).toMatchObject({
      failure: 'QuoteAged',
      message: `was not sent: its quote was too old from ${notAfter} on`,
      retryInMs: expect.any(Number) as number,
    });
  });
});

it('a run that ends is told where another run has begun since, and not where its own answer was lost', async () => {
  const saga = stand.saga({}, 'setFirewalls');
  const request = { reference: saga.key.reference, vmObjectId: 5001, exactly: [143] };
  await saga.do('takeReference', { request, isReset: false });
  const ending = () => saga.do('readState', { owns: { isReset: false } });
  expect(await ending()).toMatchObject({ isAfterAnother: false, changed: { assigned: [], unassigned: [] } });
  expect(await ending()).toMatchObject({ isAfterAnother: false });
  await saga.again().do('takeReference', { request, isReset: false });
  expect(await ending()).toMatchObject({ isAfterAnother: true });
});

it('a clean-up deletes nothing any more once a run of the saga has begun again', async () => {
  const saga = stand.saga();
  const request = { reference: saga.key.reference, items: [] };
  const begin = { request, isReset: false };
  await saga.do('takeReference', begin);
  const { cleaning } = saga;
  const ended = temporalThat(() => 'TERMINATED');
  const look = () => cleaning.do('readState', { owns: { isReset: false } }, ended);
  const remove = { step: 'add-cart-item-1', cartItemId: 1 };
  const { cursor } = await look();
  await saga.again().do('takeReference', begin);
  const late = () => cleaning.refusal('deleteCartItem', { ...remove, cursor });
  expect(await nothingSent(late)).toMatchObject({ failure: 'StateChanged', notOwned: true });
  const before = stand.calls;
  await cleaning.do('deleteCartItem', { ...remove, cursor: (await look()).cursor });
  expect(stand.calls).toBe(before + 1);
});
