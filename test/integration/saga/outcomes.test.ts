/**
 * One word for how a saga ended, the same wherever it is read: the result or report, the state, the list, the record,
 * the exit status.
 */
import { Writable } from 'node:stream';
import type { SagaHandle } from '../../../src/client/handle';
import { followToEnd } from '../../../src/cli/commands';
import { Printer } from '../../../src/cli/print';
import type { SagaOutcome } from '../../../src/domain/outcomes';
import { changeRequest, provisionRequest } from '../../support/requests';
import { rigForFile, until } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';

const rig = rigForFile({ clears: true });

const exits: Record<SagaOutcome, number> = {
  done: 0,
  partly: 5,
  reversed: 1,
  'reversed-with-leftovers': 6,
  untouched: 1,
};

type Faults = Parameters<typeof rig.sandbox.faults.add>[0][];
/** It meets the faults, waits, and somebody does this. */
async function after(faults: Faults, start: () => Promise<SagaHandle>, then: (saga: SagaHandle) => Promise<unknown>) {
  for (const fault of faults) rig.sandbox.faults.add(fault);
  const saga = await start();
  await untilWaiting(saga);
  await then(saga);
  return saga;
}
const order = (changes: Record<string, unknown> = {}) => rig.sagas.provision(provisionRequest(changes));
const guarded = () => order({ firewalls: [143] });
const change = (changes: Record<string, unknown> = {}) => rig.sagas.change(changeRequest(changes));
const skip = (saga: SagaHandle) => answer(saga, 'skip', { note: 'not needed' });
const cancel = (saga: SagaHandle) => saga.cancel();
const refused = { endpoint: 'place-order', kind: 'refuse-before' } as const;
const refusedFirewalls = { endpoint: 'assign-firewalls', kind: 'refuse-before', status: 402 } as const;
const undeleted = { endpoint: 'delete-cart-item', kind: 'unauthorized' } as const;
const lost = { endpoint: 'place-change-order', kind: 'reset-after' } as const;

async function cancelledAtItsLastCall(): Promise<SagaHandle> {
  const gate = rig.sandbox.faults.add({ endpoint: 'place-change-order', kind: 'gate', hold: 'after' });
  const saga = await change();
  await rig.sandbox.whenStruck(gate);
  await saga.cancel();
  rig.sandbox.faults.release(gate);
  return saga;
}

const ends: [what: string, word: SagaOutcome, start: () => Promise<SagaHandle>][] = [
  ['a saga that is done', 'done', guarded],
  ['one of which a person left a step out', 'partly', () => after([refusedFirewalls], guarded, skip)],
  [
    'one that was cancelled after its order',
    'partly',
    () => {
      rig.sandbox.configure({ orderResponse: 'opaque' });
      return after([], guarded, cancel);
    },
  ],
  ['one that was cancelled as its last call placed all of it', 'done', cancelledAtItsLastCall],
  ['one that fails', 'reversed', () => change({ guard: { maxTotal: 0 } })],
  [
    'one that was refused, and undone',
    'reversed',
    () => {
      rig.sandbox.faults.add(refused);
      return order();
    },
  ],
  [
    'one of which something could not be undone',
    'reversed-with-leftovers',
    () => after([refused, undeleted], order, skip),
  ],
  ['one of which nobody knows whether it was placed', 'reversed-with-leftovers', () => after([lost], change, cancel)],
];

it.each(ends)('%s is %s', async (_, word, start) => {
  const saga = await start();
  const { result, failure, cancelled } = await outcomeOf(saga);
  const { outcome } = (result ?? failure?.report ?? cancelled) as { outcome: SagaOutcome };
  expect(outcome).toBe(word);
  expect((await saga.progress()).state).toBe(word);
  await until(async () => {
    for await (const row of rig.sagas.list({ state: word })) if (row.workflowId === saga.workflowId) return true;
    return false;
  });
  for (const other of Object.keys(exits).filter((one) => one !== word)) {
    for await (const row of rig.sagas.list({ state: other as SagaOutcome })) {
      expect(row.workflowId).not.toBe(saga.workflowId);
    }
  }
  const said: string[] = [];
  const out = new Writable({ write: (chunk: Buffer, _encoding, done) => (said.push(chunk.toString()), done()) });
  const { status } = await followToEnd(new Printer({ out, err: out }, false), saga);
  expect(status).toBe(exits[word]);
  const isWord = word === 'done' || word === 'partly' ? /done|partly/ : new RegExp(`^  ${word}: `, 'm');
  expect(said.join('')).toMatch(isWord);
});
