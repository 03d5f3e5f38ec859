/**
 * One word for how a saga ended, the same wherever it is read: the result or report, the state, the list, the record,
 * the exit status.
 */
import { Writable } from 'node:stream';
import type { SagaHandle } from '../../../src/client/handle';
import { followToEnd } from '../../../src/cli/commands';
import { Printer } from '../../../src/cli/print';
import type { SagaOutcome } from '../../../src/domain/outcomes';
import { changeRequest, planIdOf, provisionRequest } from '../../support/requests';
import { rigForFile, until } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';

const rig = rigForFile();
afterEach(() => {
  rig.sandbox.faults.clear();
  rig.sandbox.configure({ orderResponse: 'ids' });
});

const exits: Record<SagaOutcome, number> = {
  done: 0,
  partly: 5,
  reversed: 1,
  'reversed-with-leftovers': 6,
  untouched: 1,
};

const ends: [what: string, word: SagaOutcome, start: () => Promise<SagaHandle>][] = [
  ['a saga that is done', 'done', () => rig.sagas.provision(provisionRequest({ firewalls: [143] }))],
  [
    'one of which a person left a step out',
    'partly',
    async () => {
      rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'refuse-before', status: 402 });
      const saga = await rig.sagas.provision(provisionRequest({ firewalls: [143] }));
      await untilWaiting(saga);
      await answer(saga, 'skip', { note: 'not needed' });
      return saga;
    },
  ],
  [
    'one that was cancelled after its order',
    'partly',
    async () => {
      rig.sandbox.configure({ orderResponse: 'opaque' });
      const saga = await rig.sagas.provision(provisionRequest({ firewalls: [143] }));
      await untilWaiting(saga, 'servers');
      await saga.cancel();
      return saga;
    },
  ],
  [
    'one that was cancelled as its last call placed all of it',
    'done',
    async () => {
      const gate = rig.sandbox.faults.add({ endpoint: 'place-change-order', kind: 'gate', hold: 'after' });
      const saga = await rig.sagas.change(changeRequest());
      await rig.sandbox.whenStruck(gate);
      await saga.cancel();
      rig.sandbox.faults.release(gate);
      return saga;
    },
  ],
  ['one that fails', 'reversed', () => rig.sagas.change(changeRequest({ guard: { maxTotal: 0 } }))],
  [
    'one that was refused, and undone',
    'reversed',
    () => {
      rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'refuse-before' });
      return rig.sagas.provision(provisionRequest());
    },
  ],
  [
    'one of which something could not be undone',
    'reversed-with-leftovers',
    async () => {
      const request = provisionRequest();
      rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'refuse-before' });
      const match = { planId: planIdOf(request.reference) };
      rig.sandbox.faults.add({ endpoint: 'delete-cart-item', kind: 'unauthorized', match });
      const saga = await rig.sagas.provision(request);
      await untilWaiting(saga);
      await answer(saga, 'skip', { note: 'let it be' });
      return saga;
    },
  ],
  [
    'one of which nobody knows whether it was placed',
    'reversed-with-leftovers',
    async () => {
      rig.sandbox.faults.add({ endpoint: 'place-change-order', kind: 'reset-after' });
      const saga = await rig.sagas.change(changeRequest());
      await untilWaiting(saga, 'outcome-unknown');
      await saga.cancel();
      return saga;
    },
  ],
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
