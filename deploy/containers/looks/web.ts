/** The Web UI and the codec server, as a browser on this machine reaches them. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { launchChromium } from '../../../test/system/web-ui/chromium';
import { OperatorPage } from '../../../test/system/web-ui/operator-page';
import { finish, request, startSaga } from '../sagas';
import type { Context } from '../checks';

/** Where docker-compose.yml publishes them. */
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

  await checks.check('the Web UI shows its history, encrypted with the key of .env', async () => {
    const events = await historyOf(namespace, workflowId, runId);
    const kinds = encodedPayloads(events).map(({ metadata }) => metadata['encryption-key-id']);
    assert.ok(kinds.length > 5);
    const id = project.readEnv()['PAYLOAD_KEYS']?.split(':')[0] ?? '';
    for (const kind of kinds) assert.equal(Buffer.from(kind ?? '', 'base64').toString(), id);
    assert.ok(!JSON.stringify(events).includes(inside));
  });

  await checks.check('the codec server decodes it for whoever has the token, and for nobody else', async () => {
    const payloads = encodedPayloads(await historyOf(namespace, workflowId, runId));
    const decode = (headers: Record<string, string>) =>
      fetch(`${codec}/decode`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-namespace': namespace, origin: ui, ...headers },
        body: JSON.stringify({ payloads }),
      });
    const open = await decode({ authorization: `Bearer ${token}` });
    assert.equal(open.status, 200);
    const { payloads: decoded } = (await open.json()) as { payloads: { data?: string }[] };
    const clear = decoded.map(({ data }) => Buffer.from(data ?? '', 'base64').toString()).join('\n');
    assert.ok(clear.includes(inside));
    assert.ok(!clear.includes(order.items[0]?.password ?? ''));
    assert.equal((await decode({})).status, 401);
    assert.equal((await decode({ authorization: `Bearer ${'f'.repeat(48)}` })).status, 401);
  });

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
      assert.ok((await reader.allText()).includes(inside));
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

interface Payload {
  metadata: Record<string, string>;
  data: string;
}

async function historyOf(namespace: string, workflowId: string, runId: string): Promise<unknown> {
  const path = `/api/v1/namespaces/${namespace}/workflows/${encodeURIComponent(workflowId)}/history`;
  const answer = await fetch(`${ui}${path}?execution.runId=${runId}`);
  assert.equal(answer.status, 200);
  return answer.json();
}

/** All that are marked as encrypted, wherever they stand. */
function encodedPayloads(value: unknown): Payload[] {
  if (value === null || typeof value !== 'object') return [];
  const { metadata } = value as Partial<Payload>;
  if (metadata?.['encryption-key-id'] !== undefined) return [value as Payload];
  return Object.values(value).flatMap(encodedPayloads);
}
