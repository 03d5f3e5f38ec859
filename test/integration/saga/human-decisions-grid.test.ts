/** Every kind of waiting, and every decision; two at the same moment; one against a cancel. */
import type { WorkflowHandle } from '@temporalio/client';
import { decisionNames, type DecisionName } from '../../../src/domain/decisions';
import { parseSpendLimits } from '../../../src/domain/spending';
import type { Waiting, WaitKind } from '../../../src/domain/progress';
import type { SagaHandle } from '../../../src/client/handle';
import { noOrderPlacedTwice, openCartItems, ordersWithLabel } from '../../../sandbox/sentences';
import { panelOf } from '../../support/panel';
import { changeRequest, provisionRequest } from '../../support/requests';
import { Rig, until } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start({ activities: { spendLimits: parseSpendLimits('ZZ-1=1 servers/1h') } });
});
afterAll(async () => {
  await rig.close();
});
beforeEach(() => {
  rig.sandbox.faults.clear();
});

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

/** A saga for each kind of waiting, and how it ends after each decision that fits. */
const waits: Record<
  string,
  {
    kind: WaitKind;
    start: () => Promise<SagaHandle>;
    fits: Partial<Record<DecisionName, string>>;
    /** What a person does before they say that it is done. */
    byHand?: (waiting: Waiting) => void;
  }
> = {
  'stuck before the order': {
    kind: 'stuck',
    start: () => {
      const request = provisionRequest();
      rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized', match: { label: request.label } });
      return rig.sagas.provision(request);
    },
    fits: { retry: 'done' },
  },
  'a refusal': {
    kind: 'refused',
    start: () => {
      const request = provisionRequest({ onRefusal: 'ask' });
      rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'refuse-before', match: { label: request.label } });
      return rig.sagas.provision(request);
    },
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
      const request = provisionRequest();
      rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'refuse-before', match: { label: request.label } });
      rig.sandbox.faults.add({ endpoint: 'delete-cart-item', kind: 'unauthorized' });
      return rig.sagas.provision(request);
    },
    fits: { retry: 'reversed', markDone: 'reversed', skip: 'reversed-with-leftovers' },
    byHand: ({ question }) => panelOf(rig.sandbox).deleteCartItem(Number(/item (\d+)/.exec(question)?.[1])),
  },
  'an unknown outcome': {
    kind: 'outcome-unknown',
    start: () => {
      const request = provisionRequest();
      rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'reset-before', match: { label: request.label } });
      return rig.sagas.provision(request);
    },
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
    start: () => {
      const request = provisionRequest({ firewalls: [143] });
      rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'empty', match: { label: request.label } });
      return rig.sagas.provision(request);
    },
    fits: { provideServers: 'done', markCancelled: 'reversed' },
  },
};

const raw = (saga: SagaHandle): WorkflowHandle => rig.temporal.workflow.getHandle(saga.workflowId);
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
      await raw(saga).signal(name, body);
    }
    const { ignored } = await until(async () => {
      const progress = await saga.progress();
      return progress.ignored.length === others.length && progress;
    });
    expect(ignored.map(({ decision }) => decision)).toEqual(others);
    expect((await saga.progress()).waiting).toEqual(waiting);
    await raw(saga).terminate('the test is through with it');
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
  expect(ordersWithLabel(rig.sandbox.ledger, saga.reference)).toHaveLength(
    taken[0]?.decision === 'confirmNotPlaced' ? 1 : 0,
  );
});

it('loses neither the decision nor the cancel when they race', async () => {
  for (let round = 0; round < 8; round += 1) {
    const request = provisionRequest();
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'reset-before', match: { label: request.label } });
    const saga = await rig.sagas.provision(request);
    await untilWaiting(saga);
    const inOrder = [() => answer(saga, 'confirmNotPlaced', { note: 'looked' }), () => raw(saga).cancel()];
    const [first, second] = round % 2 === 0 ? inOrder : inOrder.reverse();
    await Promise.allSettled([first?.(), second?.()]);
    const { cancelled } = await outcomeOf(saga);
    const orders = ordersWithLabel(rig.sandbox.ledger, request.reference);
    expect(orders.length).toBeLessThanOrEqual(1);
    const taken = (await saga.progress()).decisions.length === 1;
    const open = openCartItems(rig.sandbox.ledger).map(({ cartItemId }) => cartItemId);
    // Decided "not placed" and cancelled: undone. Cancelled while nobody knew: left alone, and told.
    const told = (cancelled?.leftovers ?? []).flatMap((left) => (left.kind === 'cart-item' ? [left.cartItemId] : []));
    if (orders.length === 0) expect(told.length).toBe(taken ? 0 : 1);
    expect(told.filter((id) => !open.includes(id))).toEqual([]);
  }
  expect(noOrderPlacedTwice(rig.sandbox.ledger)).toBe(true);
});
