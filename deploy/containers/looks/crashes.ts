/**
 * Each container is killed in the middle of sagas, and started again by its restart policy: the sagas get to their end,
 * and nothing is ordered twice.
 */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { ordersOf, silentLeftovers } from '../../../sandbox/sentences';
import type { Project } from '../project';
import { finish, ledgerOf, request, sandboxOf, settle, startSaga } from '../sagas';
import type { Context } from '../checks';

const sagasAtOnce = 4;

export async function crashes({ checks, project }: Context): Promise<void> {
  const sandbox = sandboxOf(project);
  // For all sagas here: an add whose worker was killed is told, and a person looks at its cart item.
  let told = 0;
  const inFlight = request('PO-IN-FLIGHT');
  for (const service of ['postgres', 'temporal', 'worker', 'codec-server', 'ui'])
    await checks.check(
      `${service} is killed in the middle of ${sagasAtOnce} sagas: it comes back, and they end, each with one order`,
      async () => {
        // Slow enough that some sagas are before their order, and some behind it.
        await sandbox.addFault({ endpoint: '*', kind: 'slow', delayMs: 700, times: 'all' });
        const requests = Array.from({ length: sagasAtOnce }, (_, at) => request(`PO-${service.toUpperCase()}-${at}`));
        const [early, late] = [requests.slice(0, 2), requests.slice(2)];
        for (const each of early) await startSaga(project, each);
        if (service === 'worker') {
          const match = { account: inFlight.account };
          const gate = await sandbox.addFault({ endpoint: 'place-order', kind: 'gate', hold: 'after', match });
          await startSaga(project, inFlight);
          await sandbox.whenStruck(gate);
        }
        for (const each of late) await startSaga(project, each);
        await sandbox.whenCalled({ endpoint: 'place-order', match: { account: requests[0]?.account ?? '' } });
        await crash(project, service);
        await sandbox.clearFaults();
        for (const { reference } of requests) told += await finish(project, reference);
        const read = await ledgerOf(project);
        assert.deepEqual(silentLeftovers(read, [], told), []);
        for (const { account } of requests) assert.equal(ordersOf(read, account).length, 1, account);
      },
    );

  await checks.check(
    'an order in flight when the worker was killed: a person is asked, confirms it, and no second one is placed',
    async () => {
      assert.equal((await settle(project, inFlight.reference)).waiting?.kind, 'outcome-unknown');
      await finish(project, inFlight.reference);
      assert.equal(ordersOf(await ledgerOf(project), inFlight.account).length, 1);
    },
  );
}

/**
 * SIGKILL to the container’s first process, as the kernel sends it: after `docker kill` the restart policy would not
 * hold.
 */
async function crash(project: Project, service: string): Promise<void> {
  const before = await project.stateOf(service);
  const killer = ['run', '--rm', '--pid', 'host', '--network', 'none', '--user', '0', '--entrypoint', 'sh'];
  await project.docker([...killer, await project.inspect('worker', '{{.Image}}'), '-c', `kill -9 ${before.Pid}`]);
  const deadline = Date.now() + 180_000;
  for (;;) {
    const { StartedAt, Health } = await project.stateOf(service);
    if (StartedAt !== before.StartedAt && Health?.Status === 'healthy') return;
    if (Date.now() > deadline) throw new Error(`${service} is not back after three minutes`);
    await pause(250);
  }
}
