/** The Web UI and the codec server, as a browser on this machine reaches them. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { launchChromium } from '../../../test/system/web-ui/chromium';
import { OperatorPage } from '../../../test/system/web-ui/operator-page';
import { finish, request, startSaga } from '../sagas';
import type { Context } from '../checks';

const [ui, codec] = ['http://localhost:8080', 'http://localhost:8088'];

/** In the request, and in no search attribute: those are clear text. */
const inside = 'cloud_servers_standard';

export async function web({ checks, project }: Context): Promise<void> {
  const order = request('PO-WEB');
  await startSaga(project, order);
  await finish(project, order.reference);
  const { TEMPORAL_NAMESPACE: namespace = '', CODEC_TOKEN = '' } = project.readEnv();
  const token = CODEC_TOKEN.replace(/^\w+:/, '');
  const { stdout } = await project.cli(['status', order.reference, '--json']);
  const { workflowId, runId } = JSON.parse(stdout) as { workflowId: string; runId: string };

  await checks.check(
    'its history is encrypted with the key of .env, and the codec server asks for a token',
    async () => {
      const path = `/api/v1/namespaces/${namespace}/workflows/${encodeURIComponent(workflowId)}/history`;
      const answer = await fetch(`${ui}${path}?execution.runId=${runId}`);
      assert.equal(answer.status, 200);
      const history = await answer.text();
      const keys = [...history.matchAll(/"encryption-key-id":\s*"([^"]+)"/g)].map(([, key = '']) => key);
      assert.ok(keys.length > 5);
      const id = project.readEnv()['PAYLOAD_KEYS']?.split(':')[0] ?? '';
      for (const key of keys) assert.equal(Buffer.from(key, 'base64').toString(), id);
      assert.ok(!history.includes(inside));
      for (const headers of [undefined, { authorization: `Bearer ${'f'.repeat(48)}` }])
        assert.equal((await fetch(`${codec}/decode`, { method: 'POST', headers })).status, 401);
    },
  );

  if (!['/usr/bin/chromium', process.env['ORDER_SAGA_TEST_CHROMIUM'] ?? ''].some((path) => existsSync(path))) {
    console.log('        not shown: the Web UI in a browser: there is no Chromium');
    return;
  }
  await checks.check('in a browser it is clear text with the token, and nothing can be read without', async () => {
    const browser = await launchChromium();
    try {
      const reader = await OperatorPage.open(browser, ui, namespace, { url: codec, token });
      await reader.openRun(workflowId, runId);
      await reader.untilShown('"[redacted]"');
      const shown = await reader.allText();
      assert.ok(shown.includes(inside) && !shown.includes(order.items[0]?.password ?? ''));
      await reader.picture('compose-decoded');
      const stranger = await OperatorPage.open(browser, ui, namespace);
      await stranger.openRun(workflowId, runId);
      await stranger.untilShown('Codec Server could not connect');
      assert.ok(!(await stranger.allText()).includes(inside));
    } finally {
      await browser.close();
    }
  });
}
