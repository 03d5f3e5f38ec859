/** The model itself: what it allows, and what it does not. One that allows everything would find nothing. */
import type { ProgressView, WaitKind } from '../../../src/domain/progress';
import type { EndpointName } from '../../../sandbox/endpoints';
import { allows, begin, cancel, type Armed, type State } from './model';
import { stories, type Story } from './stories';
import { troubles } from './troubles';

function story(name: string): Story {
  const found = stories.find((one) => one.name === name);
  if (found === undefined) throw new Error(`there is no story of ${name}`);
  return found;
}

const provisioning = story('a provisioning of 2 items with firewalls');

function spoiled(endpoint: EndpointName, kind: string, more: Armed = {}): State['armed'] {
  const trouble = troubles.find((one) => one.kind === kind);
  if (trouble === undefined) throw new Error(`there is no trouble ${kind}`);
  return { [endpoint]: { trouble, ...more } };
}

function shown(state: ProgressView['state'], waiting?: { step: string; choices: string[] }): ProgressView {
  return {
    reference: 'R',
    workflow: 'provisionServers',
    state,
    steps: [],
    reached: [],
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
