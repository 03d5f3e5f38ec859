/**
 * What a worker writes while sagas go through trouble: JSON, each line with the saga that it is about; on a terminal,
 * for people.
 */
import { startProcess } from '../../../scripts/processes';
import { programOf } from '../../support/programs';
import { planIdOf, provisionRequest } from '../../support/requests';
import { Rig, until } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';

type Line = Record<string, unknown> & { msg: string };

let rig: Rig;
let lines: Line[];
let reference: string;
let run: string;
beforeAll(async () => {
  rig = await Rig.start({ worker: false });
  const worker = await startProcess(programOf('worker'), { ...rig.environment, LOG_LEVEL: 'debug' });
  const request = provisionRequest();
  ({ reference } = request);
  const match = { planId: planIdOf(reference) };
  rig.sandbox.faults.add({ endpoint: 'add-cart-item', kind: 'unauthorized', match });
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'error-before', match });
  const saga = await rig.sagas.provision(request);
  await untilWaiting(saga, 'stuck');
  await rig.temporal.workflow.getHandle(saga.workflowId).signal('approve', {});
  await until(async () => (await saga.progress()).ignored.length > 0);
  await answer(saga, 'retry', { by: 'somebody' });
  await untilWaiting(saga, 'outcome-unknown');
  await saga.cancel();
  await outcomeOf(saga);
  ({ runId: run } = await rig.temporal.workflow.getHandle(saga.workflowId).describe());
  // Its end is in the log when it has ended.
  await worker.kill('SIGTERM');
  lines = worker
    .errors()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}, 60_000);
afterAll(() => rig.close());

/** Whether a call that tells receivers is under way at the end is a matter of moments. */
const isOfMoments = ({ msg }: Line) => msg === 'notifications are not handed over yet';

const ofTheSaga = () =>
  lines
    .filter((line) => !isOfMoments(line))
    .filter((line) => JSON.stringify(line).includes(reference) || JSON.stringify(line).includes(run));

it('names reference, workflow and run on each line of a saga, and what it is about', () => {
  expect(ofTheSaga().length).toBeGreaterThan(8);
  for (const line of ofTheSaga()) {
    expect(line).toMatchObject({ reference, workflow: 'provisionServers', run });
  }
  const aboutTheRun = ofTheSaga().filter(({ step, activity }) => step === undefined && activity === undefined);
  expect(new Set(aboutTheRun.map(({ msg }) => msg))).toEqual(
    new Set(['Workflow started', 'the saga has ended', 'Workflow completed as cancelled']),
  );
});

it('tells the life of a saga', () => {
  const life = ofTheSaga().filter(({ component }) => component === 'workflow');
  expect(life.map(({ msg, step = '', outcome = '' }) => [msg, step, outcome].join(' | '))).toEqual([
    'a call failed | add-cart-item-1 | ',
    'waiting for a decision | add-cart-item-1 | ',
    'a signal was ignored | add-cart-item-1 | ',
    'decision taken | add-cart-item-1 | ',
    'a call failed | place-order | ',
    'waiting for a decision | place-order | ',
    'the saga has ended |  | cancelled',
  ]);
});
