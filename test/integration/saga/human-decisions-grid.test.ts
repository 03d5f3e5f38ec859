/** Every kind of waiting, and every decision; two at the same moment; one against a cancel. */
import { decisionNames, type DecisionName } from '../../../src/domain/decisions';
import { parseSpendLimits } from '../../../src/domain/spending';
import type { Waiting, WaitKind } from '../../../src/domain/progress';
import type { SagaHandle } from '../../../src/client/handle';
import type { FaultSpec } from '../../../sandbox/faults';
import { panelOf } from '../../support/panel';
import { changeRequest, provisionRequest } from '../../support/requests';
import { rigForFile, until } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';

const rig = rigForFile({ clears: true, activities: { spendLimits: parseSpendLimits('ZZ-1=1 servers/1h') } });

/** A body that is well-formed for each decision. */
const bodies: Record<DecisionName, object> = {
  retry: { by: 'op' },
  skip: { note: 'can be left out' },
  markDone: { note: 'done in the panel' },
  confirmPlaced: { note: 'seen' },
  confirmNotPlaced: { note: 'looked' },
  markCancelled: { note: 'the panel says: cancelled' },
  approve: {},
  reject: { reason: 'no' },
  provideServers: { vmObjectIds: [9001] },
};

/** An order that meets the fault. */
function orderThat(
  fault: Omit<FaultSpec, 'endpoint' | 'match'>,
  changes: Record<string, unknown> = {},
): Promise<SagaHandle> {
  const request = provisionRequest(changes);
  rig.sandbox.faults.add({ endpoint: 'place-order', match: { label: request.label }, ...fault });
  return rig.sagas.provision(request);
}

interface Wait {
  kind: WaitKind;
  start: () => Promise<SagaHandle>;
  /** How it ends after each decision that fits. */
  fits: Partial<Record<DecisionName, string>>;
  /** What a person does before they say that it is done. */
  byHand?: (waiting: Waiting) => void;
}

const waits: Record<string, Wait> = {
  'stuck before the order': {
    kind: 'stuck',
    start: () => orderThat({ kind: 'unauthorized' }),
    fits: { retry: 'done' },
  },
  'a refusal': {
    kind: 'refused',
    start: () => orderThat({ kind: 'refuse-before' }, { onRefusal: 'ask' }),
    fits: { retry: 'done' },
  },
  'stuck after the order': {
    kind: 'stuck',
    start: () => {
      rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'refuse-before', status: 402 });
      return rig.sagas.provision(provisionRequest({ firewalls: [143] }));
    },
    fits: { retry: 'done', markDone: 'done', skip: 'partly', markCancelled: 'reversed' },
    byHand: ({ step }) => panelOf(rig.sandbox).assign(Number(/\d+$/.exec(step)), [143]),
  },
  'a compensation that cannot finish': {
    kind: 'stuck',
    start: () => {
      rig.sandbox.faults.add({ endpoint: 'delete-cart-item', kind: 'unauthorized' });
      return orderThat({ kind: 'refuse-before' });
    },
    fits: { retry: 'reversed', markDone: 'reversed', skip: 'reversed-with-leftovers' },
    byHand: ({ question }) => panelOf(rig.sandbox).deleteCartItem(Number(/item (\d+)/.exec(question)?.[1])),
  },
  'an unknown outcome': {
    kind: 'outcome-unknown',
    start: () => orderThat({ kind: 'reset-before' }),
    fits: { confirmPlaced: 'done', confirmNotPlaced: 'done', markCancelled: 'reversed' },
  },
  'an approval': {
    kind: 'approval',
    start: () => rig.sagas.change(changeRequest({ approval: 'always' })),
    fits: { approve: 'done', reject: 'reversed' },
  },
  'a limit': {
    kind: 'over-limit',
    start: () => rig.sagas.provision(provisionRequest({ account: 'ZZ-1', items: [{ quantity: 2 }] })),
    fits: { approve: 'done', reject: 'reversed' },
  },
  'unknown servers': {
    kind: 'servers',
    start: () => orderThat({ kind: 'empty' }, { firewalls: [143] }),
    fits: { provideServers: 'done', markCancelled: 'reversed' },
  },
};

const end = async (saga: SagaHandle) => {
  await outcomeOf(saga);
  return (await saga.progress()).state;
};

describe.each(Object.entries(waits))('%s', (_name, { kind, start, fits, byHand }) => {
  it.each(Object.entries(fits) as [DecisionName, string][])('takes %s, and ends as %s', async (name, ends) => {
    const saga = await start();
    const waiting = await untilWaiting(saga, kind);
    expect([...waiting.choices].sort()).toEqual(Object.keys(fits).sort());
    if (name === 'markDone') byHand?.(waiting);
    await answer(saga, name, bodies[name]);
    expect(await end(saga)).toBe(ends);
  });

  it('takes no other', async () => {
    const saga = await start();
    const waiting = await untilWaiting(saga, kind);
    const others = decisionNames.filter((name) => fits[name] === undefined);
    for (const name of others) {
      const body = { question: waiting.id, ...bodies[name] };
      const refused = `Decisions that fit: ${[...waiting.choices, 'cancel'].join(', ')}`;
      await expect(saga.decide(name, body)).rejects.toThrow(refused);
      await rig.runOf(saga).signal(name, body);
    }
    const { ignored } = await until(async () => {
      const progress = await saga.progress();
      return progress.ignored.length === others.length && progress;
    });
    expect(ignored.map(({ decision }) => decision)).toEqual(others);
    expect((await saga.progress()).waiting).toEqual(waiting);
    await rig.runOf(saga).terminate('the test is through with it');
  });
});

it('takes one of two decisions that come at once; the other finds nothing to decide', async () => {
  const saga = await waits['an unknown outcome']!.start();
  await untilWaiting(saga);
  const decisions = await Promise.allSettled([
    answer(saga, 'confirmNotPlaced', bodies.confirmNotPlaced),
    answer(saga, 'confirmPlaced', bodies.confirmPlaced),
  ]);
  expect(decisions.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  await saga.result();
  const { decisions: taken } = await saga.progress();
  expect(taken).toHaveLength(1);
  expect(rig.ordersOf(saga)).toHaveLength(taken[0]?.decision === 'confirmNotPlaced' ? 1 : 0);
});

it.each(['the decision', 'the cancel'])(
  'loses neither of a decision and a cancel that race: %s is sent first',
  async (which) => {
    const race = async () => {
      const saga = await orderThat({ kind: 'reset-before' });
      await untilWaiting(saga);
      const inOrder = [() => answer(saga, 'confirmNotPlaced', { note: 'looked' }), () => rig.runOf(saga).cancel()];
      const [first, second] = which === 'the decision' ? inOrder : inOrder.reverse();
      await Promise.allSettled([first?.(), second?.()]);
      const { cancelled } = await outcomeOf(saga);
      const orders = rig.ordersOf(saga);
      expect(orders.length).toBeLessThanOrEqual(1);
      const taken = (await saga.progress()).decisions.length === 1;
      const open = rig.openItems(saga).map(({ cartItemId }) => cartItemId);
      // Decided "not placed" and cancelled: undone. Cancelled while nobody knew: left alone, and told.
      const told = (cancelled?.leftovers ?? []).flatMap((left) => (left.kind === 'cart-item' ? [left.cartItemId] : []));
      if (orders.length === 0) expect(told.length).toBe(taken ? 0 : 1);
      expect(told.filter((id) => !open.includes(id))).toEqual([]);
    };
    await Promise.all(Array.from({ length: 8 }, race));
  },
);
