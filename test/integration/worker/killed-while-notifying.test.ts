/** A worker process that dies after a receiver was told, and before that was written down. */
import { startProcess, type RunningProcess } from '../../../scripts/processes';
import { runHere } from '../../support/command-line';
import { itInWays } from '../../support/left-out';
import { programOf } from '../../support/programs';
import { WebhookReceiver } from '../../support/receiver';
import { planIdOf, provisionRequest } from '../../support/requests';
import { Rig, until } from '../../support/rig';
import { answer, untilWaiting } from '../../support/sagas';
import { saidThere } from '../../support/operator';

let rig: Rig;
let ops: WebhookReceiver;
const workers: RunningProcess[] = [];

/** @param allow inner addresses that may be told. A notification that fails is given up at once. */
function startWorker(allow: string, changes: Record<string, string> = {}): Promise<RunningProcess> {
  return startProcess(programOf('worker'), {
    ...rig.environment,
    NOTIFICATION_ROUTES: JSON.stringify([{ name: 'ops', url: ops.url, secret: 'webhook-ops' }]),
    NOTIFICATION_ALLOW: allow,
    NOTIFICATION_ALLOW_HTTP: 'true',
    NOTIFICATION_TIMEOUT_MS: '1000',
    NOTIFICATION_RETRY: '1,10,10,60000',
    SECRET_WEBHOOK_OPS: ops.secret,
    ...changes,
  }).then((worker) => {
    workers.push(worker);
    return worker;
  });
}

beforeAll(async () => {
  rig = await Rig.start({ worker: false });
  ops = await WebhookReceiver.start();
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.kill('SIGKILL')));
  await rig.close();
  await ops.close();
});

async function waiting() {
  const request = provisionRequest();
  const match = { planId: planIdOf(request.reference) };
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized', match });
  const saga = await rig.sagas.provision(request);
  await untilWaiting(saga, 'stuck');
  return saga;
}

itInWays('the receiver is told again, with the same id, and what follows comes behind it', async () => {
  ops.answers = () => 'hang';
  const first = await startWorker('127.0.0.1');
  const saga = await waiting();
  await until(async () => ops.deliveries.length === 1);
  await first.kill('SIGKILL');
  ops.answers = () => 200;
  await startWorker('127.0.0.1');
  await until(async () => ops.taken.length === 1);
  expect(ops.taken[0]?.id).toBe(ops.deliveries[0]?.id);
  await answer(saga, 'retry');
  await saga.result();
  await until(async () => ops.typesOf(saga.reference).length === 3);
  expect(ops.typesOf(saga.reference)).toEqual(['saga.waiting', 'saga.settled', 'saga.ended']);
  expect(ops.faults).toEqual([]);
});

it('what was given up is listed, sent again and deleted by a person, and nobody inside is told by mistake', async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.kill('SIGTERM')));
  const known = ops.deliveries.length;
  const worker = await startWorker('10.0.0.0/8');
  const saga = await waiting();
  const cli = (...args: string[]) =>
    runHere(['notifications', ...args], '', { JOURNAL_URL: rig.journalUrl, TEMPORAL_NAMESPACE: rig.namespace });
  const listed = await until(async () => {
    const { status, out, err } = await cli('list', '--dead');
    if (err !== '') throw new Error(err);
    return status === 4 && out;
  });
  expect(listed).toContain(`ops  ${rig.namespace}  ${saga.workflowId}  waiting (stuck)`);
  expect(listed).toContain('its receiver has an inner address, which NOTIFICATION_ALLOW does not name');
  expect(ops.deliveries).toHaveLength(known);
  await worker.kill('SIGTERM');
  workers.length = 0;

  const [{ id }] = JSON.parse((await cli('list', '--json')).out) as [{ id: string }];
  expect(await cli('retry')).toMatchObject({ status: 2 });
  expect(await cli('retry', 'nonsense')).toMatchObject({ status: 2 });
  expect(await cli('retry', id)).toMatchObject({ status: 0 });
  expect(await cli('list', '--dead')).toMatchObject({ status: 0 });
  expect(await cli('drop', '--dead', ...saidThere)).toMatchObject({ out: expect.stringMatching(/^0 /) as string });
  await startWorker('127.0.0.1');
  await until(async () => ops.typesOf(saga.reference).length === 1);
  await answer(saga, 'retry');
  await saga.result();
});

itInWays(
  'a worker starts without the secret of a route, says so, and what waits is sent once it is there',
  async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.kill('SIGTERM')));
    const without = await startWorker('127.0.0.1', {
      SECRET_WEBHOOK_OPS: 'not a secret',
      NOTIFICATION_RETRY: '1000,10,100,600000',
    });
    const saga = await waiting();
    expect(without.errors()).toContain('"secret":"webhook-ops"');
    expect(ops.typesOf(saga.reference)).toEqual([]);
    await without.kill('SIGTERM');
    await startWorker('127.0.0.1');
    await answer(saga, 'retry');
    await saga.result();
    await until(async () => ops.typesOf(saga.reference).length === 3);
  },
);
