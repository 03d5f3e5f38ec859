/** A worker that cannot start says why in one sentence, and what to do; what is in its way later does not stop it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { startProcess } from '../../../scripts/processes';
import { whyTooOld, whyUnsafe } from '../../../src/operations/temporal-server';
import { itInWays } from '../../support/left-out';
import { programOf } from '../../support/programs';
import { provisionRequest } from '../../support/requests';
import { Rig } from '../../support/rig';

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start({ worker: false });
});
afterAll(() => rig.close());

it('in a namespace that does not exist', async () => {
  const started = startProcess(programOf('worker'), { ...rig.environment, TEMPORAL_NAMESPACE: 'nowhere' });
  const sentence =
    'worker cannot start: the Temporal server at [^ ]+ has no namespace nowhere: set TEMPORAL_NAMESPACE to one that it has, ' +
    'or create it with `temporal operator namespace create --namespace nowhere --retention 30d`';
  await expect(started).rejects.toThrow(new RegExp(`ended with 1 .*\\n(\\{.*\\n)?${sentence}\\n$`));
});

it.each([
  ['1.24.3', false],
  ['1.9.0', false],
  ['0.30.1', false],
  ['1.25.0', true],
  ['1.29.1', true],
  ['2.0.0', true],
  ['', true],
])('of a Temporal server of version "%s": fit is %s', (version, fit) => {
  const why = whyTooOld(version);
  expect(why === undefined).toBe(fit);
  if (!fit) expect(why).toBe(`the Temporal server has version ${version}; sagas need 1.25 or later: upgrade it`);
});

it.each([
  ['1.29.1', true],
  ['1.30.6', true],
  ['1.30.7', false],
  ['1.31.2', true],
  ['1.31.10', false],
  ['1.32.0', false],
  ['1.33.0-rc.1', false],
  ['2.0.0', false],
  ['', false],
])('of a Temporal server of version "%s": has known holes is %s', (version, has) => {
  expect(whyUnsafe(version)?.includes('fixed in 1.30.7, 1.31.3, 1.32.0') ?? false).toBe(has);
});

itInWays('goes on when the disk that its log is on is full', async () => {
  const worker = spawn(process.execPath, [programOf('worker')], {
    // A line for each call that fails, and one for each end.
    env: { PATH: process.env['PATH'], ...rig.environment, LOG_LEVEL: 'debug' },
    stdio: ['ignore', 'pipe', openSync('/dev/full', 'w')],
  });
  if (worker.stdout === null) throw new Error('it is a pipe');
  const exited = once(worker, 'exit');
  const [ready] = (await Promise.race([once(createInterface(worker.stdout), 'line'), exited])) as [unknown];
  expect(ready).toMatch(/^worker ready/);
  const request = provisionRequest();
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'rate-limit', match: { label: request.label } });
  await (await rig.sagas.provision(request)).result();
  worker.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
});
