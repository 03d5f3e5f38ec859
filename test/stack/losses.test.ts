/**
 * The stack as production has it, and what production does to it: the Temporal server and PostgreSQL die in the middle of
 * a saga's calls, and come back with what was written.
 */
import { ordersWithLabel } from '../../sandbox/sentences';
import { whyNoStack } from '../../deploy/stack/programs';
import { startStack, type Stack } from '../../deploy/stack/stack';
import { brokenPromises } from '../support/promises';
import { planIdOf, provisionRequest } from '../support/requests';
import { persistently } from '../chaos/persistence';
import { Rig } from '../support/rig';
import { outcomeOf } from '../support/sagas';
import type { EndpointName } from '../../sandbox/endpoints';

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const why = whyNoStack();
const describeWithStack = why === undefined ? describe : describe.skip;

let stack: Stack;
let rig: Rig;

describeWithStack(`a stack${why === undefined ? '' : ` (skipped: ${why})`}`, () => {
  beforeAll(async () => {
    stack = await startStack();
    rig = await Rig.start({ address: stack.address });
  }, 30 * 60_000);
  afterAll(async () => {
    await rig.close();
    await stack.stop();
  }, 60_000);

  const losses = { 'the server': ['server'], PostgreSQL: ['postgres'], both: ['postgres', 'server'] } as const;
  type Lost = keyof typeof losses;
  const moments: [EndpointName, 'before' | 'after'][] = [
    ['add-cart-item', 'after'],
    ['place-order', 'before'],
    ['place-order', 'after'],
  ];

  const cases = (Object.keys(losses) as Lost[]).flatMap((lost) =>
    moments.map(([endpoint, hold]) => [lost, endpoint, hold] as const),
  );

  it.each(cases)(
    'loses %s while %s is under way, %s it took effect: one order, and the saga is done',
    async (lost, endpoint, hold) => {
      const request = provisionRequest({ items: [{}, {}], firewalls: [150] });
      const match = endpoint === 'place-order' ? { label: request.label } : { planId: planIdOf(request.reference) };
      const gate = rig.sandbox.faults.add({ endpoint, kind: 'gate', hold, match });
      const saga = await rig.sagas.provision(request);
      await rig.sandbox.whenStruck(gate);

      const living = losses[lost].map((part) => stack[part].pid);
      for (const part of losses[lost]) await stack[part].kill();
      expect(living.filter(isRunning)).toEqual([]);
      // The call ends while nobody is there to be told.
      rig.sandbox.faults.release(gate);
      for (const part of losses[lost]) await stack[part].restart();

      const ended = await persistently(() => outcomeOf(saga));
      expect(ended.result).toMatchObject({ leftovers: [], decisions: [] });
      expect(ordersWithLabel(rig.sandbox.ledger, request.reference)).toHaveLength(1);
      expect(brokenPromises(rig.sandbox.ledger, { workflow: 'provisionServers', request }, ended)).toEqual([]);
    },
    5 * 60_000,
  );
});
