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
    for (const expression of [
      'up{job="order-saga-worker"} == 1',
      'temporal_num_pollers > 0',
      'sum(order_saga_provider_request_seconds_count) > 0',
    ])
      await until(expression, async () => (await query(expression)).length > 0);
  });

  await checks.check(
    'an alert reaches the receiver of .env by way of Alertmanager, which Prometheus has found',
    async () => {
      const receiver = ['run', '--rm', '--detach', '--no-deps', '--name', 'receiver', '--entrypoint', 'node', 'worker'];
      await project.compose([...receiver, '-e', printing]);
      try {
        project.changeEnv({ ALERT_URL: 'http://receiver:8080/' });
        await project.compose(['--profile', 'metrics', 'up', '--detach', '--wait', 'alertmanager']);
        const alert = { labels: { alertname: 'OrderStuck', severity: 'page', namespace: 'orders' } };
        const headers = { 'content-type': 'application/json' };
        await fetch(`${alertmanager}/api/v2/alerts`, { method: 'POST', headers, body: JSON.stringify([alert]) });
        await until('the alert', async () =>
          (await project.docker(['logs', 'receiver'])).stdout.includes('OrderStuck'),
        );
        await until('Alertmanager', async () => {
          const answer = await fetch(`${address}/api/v1/alertmanagers`);
          return (await answer.text()).includes('alertmanager:9093');
        });
      } finally {
        await project.docker(['rm', '--force', 'receiver']);
      }
    },
  );

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
const alertmanager = 'http://127.0.0.1:9093';

/** A program of Node: whoever sends it something finds it in its log. */
const printing = `
  require('node:http').createServer((asked, answer) => asked.on('end', () => answer.end()).pipe(process.stdout)).listen(8080);`;

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + scrapedMaxMs;
  while (!(await isSo())) {
    assert.ok(Date.now() < deadline, `${what} is nowhere`);
    await pause(1_000);
  }
}

async function query(expression: string): Promise<Answer['data']['result']> {
  const answer = await fetch(`${address}/api/v1/query?query=${encodeURIComponent(expression)}`);
  return ((await answer.json()) as Answer).data.result;
}
