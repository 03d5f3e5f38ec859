/** From nothing to a bought server: what docs/deploying.md promises of two commands. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ordersOf } from '../../../sandbox/sentences';
import { ledgerOf, reached, request, sandboxOf } from '../sagas';
import type { Context } from '../checks';

/** Compose sets these to values that are not the default, so that a default cannot be taken for them. */
const chosen = { TEMPORAL_NAMESPACE: 'orders', RETENTION: '45d', PROVIDER_TOKEN: randomBytes(16).toString('hex') };

const setUps = ['temporal-databases', 'journal-database', 'journal-schema', 'temporal-namespace'];

export async function first({ checks, project }: Context): Promise<void> {
  await checks.check('without .env nothing starts, and it says what is missing', async () => {
    const { status, stderr } = await project.attempt(['up', '--detach', '--wait']);
    assert.notEqual(status, 0);
    assert.match(stderr, /is missing from \.env/);
    assert.deepEqual(await project.containers(), []);
  });
  await project.makeEnv(chosen);
  // When Temporal has given a killed worker's call up, there is nothing more to wait for.
  writeFileSync(join(project.folder, 'worker.env'), 'PROVIDER_SETTLES_MS=0\n');

  await checks.check('compose brings everything up from nothing: each service healthy, each set-up done', async () => {
    await project.up();
    for (const { Service, State, Health, ExitCode } of await project.states()) {
      const isDone = setUps.includes(Service);
      assert.equal(State, isDone ? 'exited' : 'running', Service);
      assert.equal(ExitCode, 0, Service);
      if (!isDone && Service !== 'sandbox') assert.equal(Health, 'healthy', Service);
    }
  });

  await checks.check('a saga buys a server through it, and both Temporal and the journal tell of it', async () => {
    const order = request('PO-FIRST');
    const done = await reached(project, ['provision', '-', '--json'], JSON.stringify(order));
    assert.equal(done.status, 0, done.all);
    const [placed, ...more] = ordersOf(await ledgerOf(project), order.account);
    assert.ok(placed !== undefined && more.length === 0, 'not one order');
    const status = await project.cli(['status', order.reference, '--json']);
    assert.equal(status.status, 0, status.all);
    for (const id of placed.vmObjectIds) assert.match(status.stdout, new RegExp(String(id)));
    const record = await project.cli(['record', order.reference, '--timeline']);
    assert.equal(record.status, 0, record.all);
    assert.match(record.stdout, new RegExp(String(placed.orderId)));
  });

  await checks.check('.env and worker.env reach the provider, the worker and the namespace', async () => {
    const { calls } = await sandboxOf(project).ledger();
    assert.ok(calls.length > 0);
    for (const { headers } of calls) assert.equal(headers['authorization'], `Bearer ${chosen.PROVIDER_TOKEN}`);
    assert.equal((await project.inside('worker', ['printenv', 'PROVIDER_SETTLES_MS'])).stdout, '0\n');
    const { stdout } = await project.compose([
      ...['run', '--rm', '--no-deps', '-T', '--entrypoint', 'temporal', 'temporal-namespace'],
      ...['operator', 'namespace', 'describe', chosen.TEMPORAL_NAMESPACE, '--output', 'json'],
    ]);
    assert.match(stdout, new RegExp(`"${45 * 86_400}s"`));
  });

  await checks.check('our containers are no root, have no capability, can get none, and write nowhere', async () => {
    const look = 'id -u; grep -E "^(CapBnd|NoNewPrivs)" /proc/self/status';
    for (const service of ['worker', 'codec-server', 'sandbox']) {
      const { stdout } = await project.inside(service, ['sh', '-c', look]);
      assert.match(stdout, /^1000\nCapBnd:\s0+\nNoNewPrivs:\s1\n$/, service);
      // Also root in there may not: the file system itself is read-only.
      const root = await project.inside(service, ['sh', '-c', 'echo x >/app/x'], { user: '0' });
      assert.match(root.stderr, /Read-only file system/, service);
    }
  });
}
