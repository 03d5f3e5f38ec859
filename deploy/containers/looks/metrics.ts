/** The profile `metrics`: Prometheus finds the worker by its name, and its page of what waits. */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from '../checks';

/** Two scrapes of the slower job, and the look-up of the name. */
const scrapedMaxMs = 120_000;

interface Answer {
  data: { result: { metric: Record<string, string>; value: [number, string] }[] };
}

export async function metrics({ checks, project, images }: Context): Promise<void> {
  await checks.check('Prometheus comes up with our configuration and rules', async () => {
    await project.compose(['--profile', 'metrics', 'up', '--detach', '--wait', 'prometheus']);
  });

  await checks.check('it scrapes the worker, and has the series that our alerts name', async () => {
    const deadline = Date.now() + scrapedMaxMs;
    for (const expression of [
      'up{job="order-saga-worker"} == 1',
      'temporal_num_pollers > 0',
      'sum(order_saga_provider_request_seconds_count) > 0',
    ])
      while ((await query(expression)).length === 0) {
        assert.ok(Date.now() < deadline, `${expression} is nowhere`);
        await pause(1_000);
      }
  });

  await checks.check('every rule of ours was loaded, and none fails', async () => {
    const answer = await fetch(`${address}/api/v1/rules`);
    const { data } = (await answer.json()) as {
      data: { groups: { rules: { name: string; health: string; lastError?: string }[] }[] };
    };
    const rules = data.groups.flatMap((group) => group.rules);
    assert.ok(rules.length > 10);
    assert.deepEqual(
      rules.filter(({ health }) => health === 'err'),
      [],
    );
  });

  const without = images.missing.join(', ');
  if (without !== '') console.log(`        not shown: ${without}: there is no registry and no package of it`);
  else
    await checks.check('Grafana comes up with our data source and dashboard', async () => {
      await project.compose(['--profile', 'metrics', 'up', '--detach', '--wait']);
      const { GRAFANA_PASSWORD } = project.readEnv();
      const authorization = `Basic ${Buffer.from(`admin:${GRAFANA_PASSWORD}`).toString('base64')}`;
      const answer = await fetch('http://127.0.0.1:3000/api/search?query=order', { headers: { authorization } });
      assert.equal(answer.status, 200);
      assert.notDeepEqual(await answer.json(), []);
    });
}

const address = 'http://127.0.0.1:9090';

async function query(expression: string): Promise<Answer['data']['result']> {
  const answer = await fetch(`${address}/api/v1/query?query=${encodeURIComponent(expression)}`);
  return ((await answer.json()) as Answer).data.result;
}
