/** The outcome of a call is written into the journal, and goes to the workflow where the journal is away. */
import type { FaultKind } from '../../../sandbox/fault-kinds';
import type { FaultSpec } from '../../../sandbox/faults';
import type { Unwritten } from '../../../src/domain/effects';
import { JournalUnavailable } from '../../../src/journal/database/errors';
import type { Journal } from '../../../src/journal/journal';
import { rigSettings } from '../../support/activity-settings';
import { cartItem } from '../../support/requests';
import { journalThat, nothingSent, stand, standAlone, type LoneSaga } from './lone-activities';

standAlone();
afterEach(() => {
  stand.sandbox.faults.clear();
  jest.restoreAllMocks();
});

const addStep = { step: 'add-cart-item-1' };
const add = { ...addStep, number: 1, item: cartItem() };
const change = {
  step: 'place-change-order',
  change: { subscription_id: 5512, resources: [{ resource_name: 'vm_backup' as const, delta_value: '1' }] },
};
const planSwitch = { step: 'switch-plan', change: { subscription_id: 6001, plan_id: 21 } };

const firewalls = { vmObjectId: 71, firewalls: [143] };
const assign = { step: 'assign', ...firewalls };
const inCart = { cartItemId: 12 };

it.each<[told: string, act: (saga: LoneSaga) => Promise<unknown>, about: object]>([
  ['place-change-order pivot done', (saga) => saga.do('placeChangeOrder', change), { subscriptionId: 5512 }],
  ['switch-plan pivot done', (saga) => saga.do('switchPlan', planSwitch), { subscriptionId: 6001, planId: 21 }],
  ['assign mutate done', (saga) => saga.do('assignFirewalls', assign), firewalls],
  ['assign compensate done', (saga) => saga.do('unassignFirewalls', { ...assign, undoing: true }), firewalls],
  ['add-cart-item-1 compensate done', (saga) => saga.do('deleteCartItem', { ...addStep, ...inCart }), inCart],
])('of a call that succeeds: %s', async (told, act, about) => {
  const saga = stand.saga();
  await act(saga);
  const [row] = await saga.rows();
  expect(JSON.parse(row!.about)).toEqual(about);
  expect(await saga.outcomes()).toEqual([told]);
});

const unknown = 'unknown UnknownOutcome';

/** The outcome and failure of each way of failing; of a pivot, if they differ. */
const failures: [FaultKind, told: string, ofPivot?: string][] = [
  ['refuse-before', 'not-done Rejected'],
  // A success that says no proves nothing of a pivot.
  ['error-code', 'not-done Rejected', unknown],
  ['unauthorized', 'not-done Unauthorized'],
  ['forbidden', 'not-done Unauthorized'],
  ['rate-limit', 'not-done RateLimited'],
  ['error-before', unknown],
  ['error-after', unknown],
  ['reset-before', unknown],
  ['reset-after', unknown],
  ['garbage', unknown],
  ['truncated', unknown],
  ['oversized', unknown],
  ['redirect', 'unknown UnexpectedResponse', unknown],
  ['redirect-after', 'unknown UnexpectedResponse', unknown],
];

describe('of a call that fails', () => {
  const struck = (endpoint: FaultSpec['endpoint'], kind: FaultKind) =>
    stand.sandbox.faults.add({ endpoint, kind, ...(kind === 'error-code' ? { code: 422 } : {}) });

  it.each(failures)('%s: %s; of a pivot: %s', async (kind, told, ofPivot = told) => {
    const saga = stand.saga();
    struck('add-cart-item', kind);
    const failure = await saga.refusal('addCartItem', add);
    expect(await saga.outcomes()).toEqual([`add-cart-item-1 mutate ${told}`]);
    const [row] = await saga.rows();
    const { cursor, retryInMs, ...facts } = failure;
    expect(await stand.journal.unseal(row!.answer!, 'it')).toMatchObject(facts);
    expect(cursor).toMatchObject({ row: row!.id });
    expect(retryInMs === undefined).toBe(/Rejected|Unauthorized|UnexpectedResponse/.test(told));
    expect(failure).not.toHaveProperty('doubt');
    expect(failure).not.toHaveProperty('unwritten');

    const other = stand.saga({}, 'changeOrder');
    struck('place-change-order', kind);
    const { doubt } = await other.refusal('placeChangeOrder', change);
    expect(await other.outcomes()).toEqual([`place-change-order pivot ${ofPivot}`]);
    const [pivot] = await other.rows();
    expect(doubt?.row).toBe(ofPivot === unknown ? pivot!.id : undefined);
  });
});

describe('where the journal is away when the call has ended', () => {
  /** Fails so often, or for good; then no time is left, so that nobody waits for it. */
  function away(times = Infinity): { journal: Journal; tried: () => number } {
    let tried = 0;
    let goneMs = 0;
    const { now } = performance;
    jest.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + goneMs);
    const journal = journalThat(stand.journal, (real) => ({
      answered: async (...answered) => {
        tried += 1;
        if (tried > times) return real.answered(...answered);
        if (times === Infinity) goneMs += 2_000;
        throw new JournalUnavailable('no database answers at its address');
      },
    }));
    return { journal, tried: () => tried };
  }

  /** The workflow has it written when the journal is back. */
  const written = (saga: LoneSaga, unwritten: Unwritten | undefined, answer: unknown) =>
    saga.with({ journal: stand.journal }).do('writeOutcome', { unwritten: unwritten!, answer });

  it('it is tried again for some seconds', async () => {
    const { journal, tried } = away(2);
    const saga = stand.saga({ journal });
    const added = await saga.do('addCartItem', add);
    expect(added).not.toHaveProperty('unwritten');
    expect(tried()).toBe(3);
    expect(await saga.outcomes()).toEqual(['add-cart-item-1 mutate done']);
  });

  it('the answer goes to the workflow, which has it written', async () => {
    const { journal, tried } = away();
    const saga = stand.saga({ journal });
    const { value, cursor, unwritten } = await saga.do('addCartItem', add);
    expect(tried()).toBeGreaterThan(1);
    const [row] = await saga.rows();
    expect(unwritten).toEqual({
      call: { step: 'add-cart-item-1', kind: 'mutate', activity: 'addCartItem', about: { item: 1 } },
      cursor: { ...cursor, row: row!.id },
      inFlightMs: rigSettings.inFlightMs,
      outcome: 'done',
    });
    expect(await saga.outcomes()).toEqual(['add-cart-item-1 mutate intended']);

    for (const _ of ['once', 'and again, which changes nothing']) await written(saga, unwritten, value);
    const [now] = await saga.rows();
    expect(now).toMatchObject({ outcome: 'done', cart_item_id: value.cartItemId, activity: 'addCartItem' });
    expect(await saga.again({}).do('addCartItem', add)).toMatchObject({ value, recorded: {} });
  });
});

it.each([{}, { cursor: { journal: 'j', epoch: 1 } }])(
  'nothing is sent where the journal is away: %j',
  async (cursor) => {
    const gone = new JournalUnavailable('no database answers at its address');
    const journal = journalThat(stand.journal, () => ({ intend: () => Promise.reject(gone) }));
    const refused = () => stand.saga({ journal }).refusal('placeChangeOrder', { ...change, ...cursor });
    const { message } = gone;
    const retryInMs = expect.any(Number) as number;
    expect(await nothingSent(refused)).toEqual({ failure: 'JournalUnavailable', message, retryInMs });
  },
);
