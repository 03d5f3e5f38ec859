/** The model itself: what it allows, and what it does not. One that allows everything would find nothing. */
import type { ProgressView, WaitKind } from '../../../src/domain/progress';
import type { EndpointName } from '../../../sandbox/endpoints';
import {
  allows,
  begin,
  cancel,
  decide,
  describeState,
  distinct,
  release,
  reset,
  type Armed,
  type State,
} from './model';
import { stories, type Story } from './stories';
import { troubles } from './troubles';

function story(name: string): Story {
  const found = stories.find((one) => one.name === name);
  if (found === undefined) throw new Error(`there is no story of ${name}`);
  return found;
}

const provisioning = story('a provisioning of 2 items with firewalls');
const change = story('a change order');

function spoiled(endpoint: EndpointName, kind: string, more: Armed = {}): State['armed'] {
  const trouble = troubles.find((one) => one.kind === kind);
  if (trouble === undefined) throw new Error(`there is no trouble ${kind}`);
  return { [endpoint]: { trouble, ...more } };
}

/** The model's words for where it rests, without the facts in brackets. */
const restsOf = (states: State[]) => states.map((state) => describeState(state).replace(/ \(.*/, ''));

function shown(state: ProgressView['state'], waiting?: { step: string; choices: string[] }): ProgressView {
  return {
    reference: 'R',
    workflow: 'provisionServers',
    state,
    steps: [],
    leftovers: [],
    ignored: [],
    decisions: [],
    ...(waiting && { waiting: { kind: state as WaitKind, question: '', since: '', ...waiting } as never }),
  };
}

const only = (states: State[]): State => {
  expect(states).toHaveLength(1);
  return states[0]!;
};

describe('a saga', () => {
  it('of which nothing fails is done, and placed', () => {
    const approved = (state: State) => (state.rest.is === 'waiting' ? decide(state, 'approve', false) : [state]);
    for (const one of stories) expect(restsOf(begin(one, {}).flatMap(approved))).toEqual(['ended as done']);
    expect(only(begin(provisioning, {})).placed).toBe(true);
  });

  it('whose order is of unknown outcome asks, and neither tries again nor undoes', () => {
    const lost = only(begin(provisioning, spoiled('place-order', 'reset-after')));
    expect(restsOf([lost])).toEqual([
      'waits as outcome-unknown at place-order for confirmPlaced or confirmNotPlaced or markCancelled',
    ]);
    expect(lost.placed).toBe(true);
    expect(only(cancel(lost))).toMatchObject({ leftovers: ['cart-item', 'cart-item', 'placement-unknown'] });
  });

  it('that is refused before its order undoes; what cannot be undone waits', () => {
    const armed = { ...spoiled('place-order', 'refuse-before'), ...spoiled('delete-cart-item', 'unauthorized') };
    const waiting = only(begin(provisioning, armed));
    expect(restsOf([waiting])).toEqual(['waits as stuck at add-cart-item-* for retry or markDone or skip']);
    expect(restsOf(decide(waiting, 'retry', false))).toEqual(['ended as failed OrderRejected']);
    expect(only(decide(waiting, 'skip', false)).leftovers).toEqual(['cart-item']);
    expect(only(decide(waiting, 'markDone', false)).leftovers).toEqual([]);
  });

  it('that asks when it is refused ends by a person only', () => {
    const asks = only(
      begin(story('a change order that asks when it is refused'), spoiled('place-change-order', 'refuse-before')),
    );
    expect(restsOf([asks])).toEqual(['waits as refused at place-change-order for retry']);
    expect(restsOf(decide(asks, 'retry', false))).toEqual(['ended as done']);
    expect(restsOf(cancel(asks))).toEqual(['ended as cancelled']);
  });

  it('comes to terms again before it places again', () => {
    const lost = only(begin(change, spoiled('place-change-order', 'error-before')));
    const armed = spoiled('quote-change-order', 'redirect');
    expect(restsOf(decide({ ...lost, armed }, 'confirmNotPlaced', false))).toEqual([
      'waits as stuck at quote for retry',
    ]);
  });

  it('that is cancelled while its last call is under way is cancelled, and placed', () => {
    const held = only(begin(change, { 'place-change-order': { held: true } }));
    const ended = only(cancel(held).flatMap(release));
    expect(restsOf([ended])).toEqual(['ended as cancelled']);
    expect(ended.placed).toBe(true);
  });
});

describe('after a reset', () => {
  const done = only(begin(provisioning, {}));
  const later = reset([done]);

  it('it takes the order that the journal knows, and does not ask', () => {
    expect(new Set(restsOf(distinct(later)))).toEqual(
      new Set([
        'ended as done',
        'waits as stuck at add-cart-item-* for retry',
        'waits as stuck at place-order for retry',
        'waits as stuck at assign-firewalls-* for retry or markDone or skip or markCancelled',
        'waits as stuck at verify-firewalls-* for retry or markDone or skip or markCancelled',
        'waits as servers at find-servers for provideServers or markCancelled',
      ]),
    );
  });

  it('it asks about an order that the journal does not know the end of, and sends no other before somebody has said', () => {
    const unknown = reset([only(begin(provisioning, spoiled('place-order', 'error-before')))]);
    expect(unknown.map(({ placed }) => placed)).not.toContain(true);
    const asks = unknown.filter(({ rest }) => rest.is === 'waiting' && rest.wait.kind === 'outcome-unknown');
    expect(asks.flatMap((state) => decide(state, 'confirmNotPlaced', false)).map(({ placed }) => placed)).toContain(
      true,
    );
  });
});

describe('says no', () => {
  const lost = only(begin(provisioning, spoiled('place-order', 'reset-after')));
  const question = { step: 'place-order', choices: ['confirmPlaced', 'confirmNotPlaced', 'markCancelled'] };

  it('to another state than the one', () => {
    expect(allows(lost, shown('outcome-unknown', question), true)).toBe(true);
    expect(allows(lost, shown('stuck', { step: 'place-order', choices: ['retry'] }), true)).toBe(false);
    expect(allows(lost, shown('done'), true)).toBe(false);
    expect(allows(lost, shown('running'), true)).toBe(false);
  });

  it('to another step, and to choices more or less', () => {
    expect(allows(lost, shown('outcome-unknown', { ...question, step: 'quote' }), true)).toBe(false);
    const more = { ...question, choices: [...question.choices, 'skip'] };
    expect(allows(lost, shown('outcome-unknown', more), true)).toBe(false);
    expect(allows(lost, shown('outcome-unknown', { ...question, choices: [] }), true)).toBe(false);
  });

  it('to a provider that has what it should not, or lacks what it should have', () => {
    expect(allows(lost, shown('outcome-unknown', question), false)).toBe(false);
  });

  it('to a leftover that is not told, or that is not there', () => {
    const ended = only(cancel(lost));
    expect(allows(ended, shown('reversed-with-leftovers'), true)).toBe(false);
    const told: ProgressView['leftovers'] = [
      { kind: 'placement-unknown', step: 'place-order', why: '' },
      { kind: 'cart-item', cartItemId: 1, why: '' },
      { kind: 'cart-item', cartItemId: 2, why: '' },
    ];
    expect(allows(ended, { ...shown('reversed-with-leftovers'), leftovers: told }, true)).toBe(true);
    expect(allows(only(begin(provisioning, {})), { ...shown('done'), leftovers: told }, true)).toBe(false);
  });
});
