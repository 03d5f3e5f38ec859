/** What docker-compose.yml takes away from our containers is not there, seen from inside. */
import assert from 'node:assert/strict';
import { processStatus } from '../processes';
import type { Context } from '../checks';

const none = '0000000000000000';

export async function hardened({ checks, project }: Context): Promise<void> {
  for (const service of ['worker', 'codec-server', 'sandbox']) {
    await checks.check(`${service} is no root, has no capability and can get none`, async () => {
      const { Uid, CapPrm, CapEff, CapBnd, CapInh, NoNewPrivs } = await processStatus(project, service);
      assert.match(Uid ?? '', /^1000\b/);
      assert.deepEqual({ CapPrm, CapEff, CapBnd, CapInh }, { CapPrm: none, CapEff: none, CapBnd: none, CapInh: none });
      assert.equal(NoNewPrivs, '1');
    });
    await checks.check(`${service} can write nowhere that matters`, async () => {
      // Also root in there may not: the file system itself is read-only.
      for (const user of ['1000', '0'])
        for (const file of ['/x', '/app/x', '/app/dist/x', '/usr/local/bin/x', '/etc/x']) {
          const { status, stderr } = await project.inside(service, ['sh', '-c', `echo x >${file}`], { user });
          assert.notEqual(status, 0, `${user} wrote ${file}`);
          assert.match(stderr, /Read-only file system|Directory nonexistent|Permission denied/);
        }
      const root = await project.inside(service, ['sh', '-c', 'echo x >/x'], { user: '0' });
      assert.match(root.stderr, /Read-only file system/);
    });
  }

  await checks.check('the worker asks for nothing to be written: its image has one user, and no secret', async () => {
    const inspect = ['image', 'inspect', '--format', '{{json .Config}}'];
    const { stdout } = await project.docker([...inspect, await project.imageOf('worker')]);
    const config = JSON.parse(stdout) as { User: string; Env: string[] };
    assert.equal(config.User, '1000');
    assert.deepEqual(
      config.Env.filter((variable) => /TOKEN|PASSWORD|KEYS|URL/.test(variable)),
      [],
    );
  });
}
