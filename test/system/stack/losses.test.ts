/**
 * The stack as production has it, and what production does to it: the Temporal server and PostgreSQL, with the journal
 * in it, die in the middle of a saga's calls, and come back with what was written.
 */
import { whyNoStack } from '../../../deploy/stack/programs';
import { startStack, type Stack } from '../../../deploy/stack/stack';
import type { SagaHandle } from '../../../src/client/handle';
import { isRunning } from '../../support/is-running';
import { fittingDecisions } from '../../support/operator';
import { brokenPromises, type Asked } from '../../support/promises';
import { planIdOf, provisionRequest } from '../../support/requests';
import { Rig } from '../../support/rig';
import { describeInWays, takesAll, unlessLacking } from '../../support/left-out';
import { outcomeOf, persistently, untilWaitingOrEnded, type Ended } from '../../support/sagas';
import type { EndpointName } from '../../../sandbox/endpoints';

/**
 * Its end. An answer can be lost together with the database that was to keep it, and whether it is, is a race: then the
 * saga owns up, and the operator looks and says what is there.
 */
async function settled(saga: SagaHandle, asked: Asked): Promise<Ended> {
  for (;;) {
    const waiting = await persistently(() => untilWaitingOrEnded(saga));
    if (waiting === undefined) return persistently(() => outcomeOf(saga));
    expect(waiting).toMatchObject({ kind: 'outcome-unknown', step: 'place-order' });
    const [fitting] = fittingDecisions(waiting, rig.sandbox.ledger, asked);
    if (fitting === undefined || fitting.decision === 'cancel') throw new Error('nothing fits but to cancel');
    const { decision, body } = fitting;
    await persistently(() => saga.decide(decision, body));
  }
}

const describeWithStack = takesAll ? unlessLacking(whyNoStack()) : describeInWays;

let stack: Stack;
let rig: Rig;

describeWithStack('a stack', () => {
  beforeAll(async () => {
    stack = await startStack();
    rig = await Rig.start({ address: stack.address, journal: { postgres: stack.journalUrl } });
  }, 30 * 60_000);
  afterAll(async () => {
    await rig.close();
    await stack.stop();
  });

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

      const asked: Asked = { workflow: 'provisionServers', request };
      const ended = await settled(saga, asked);
      expect(ended.result).toBeDefined();
      expect(rig.ordersOf(request)).toHaveLength(1);
      expect(brokenPromises(rig.sandbox.ledger, asked, ended)).toEqual([]);
    },
    5 * 60_000,
  );
});
