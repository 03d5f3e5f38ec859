/**
 * The Web UI of a namespace whose payloads are encrypted: with a token of the codec server an operator reads and
 * decides; without one there is nothing to read.
 */
import { randomBytes } from 'node:crypto';
import type { Browser } from 'playwright-core';
import { startDevServer, type DevServer } from '../../../scripts/dev-server';
import { lowPorts } from '../../../scripts/reachable';
import { startCodecServer, type CodecServer } from '../../../src/security/codec-server/server';
import { parsePayloadKeys } from '../../../src/security/keys';
import { provisionRequest } from '../../support/requests';
import { describeInWays, takesAll, unlessLacking } from '../../support/left-out';
import { Rig } from '../../support/rig';
import { untilWaiting } from '../../support/sagas';
import { launchChromium, whyNoBrowser } from './chromium';
import { OperatorPage } from './operator-page';

const cli = process.env['ORDER_SAGA_TEST_TEMPORAL_CLI'];
const whyNot = whyNoBrowser();
const here = takesAll ? unlessLacking(whyNot) : describeInWays;

here('the Web UI of encrypted sagas', () => {
  const token = randomBytes(24).toString('hex');
  const keys = parsePayloadKeys(`k1:${randomBytes(32).toString('base64')}`);
  const canary = 'canary-password-5Tz';
  let codec: CodecServer;
  let temporal: DevServer;
  let rig: Rig;
  let browser: Browser;

  beforeAll(async () => {
    if (whyNot !== undefined || cli === undefined) throw new Error(whyNot ?? 'there is no Temporal CLI');
    const [uiPort = 0] = await lowPorts(1);
    codec = await startCodecServer({
      host: '127.0.0.1',
      port: 0,
      tls: undefined,
      keys,
      tokens: [{ label: 'operators', value: token }],
      jwt: undefined,
      origins: [`http://127.0.0.1:${uiPort}`],
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    });
    temporal = await startDevServer({ cli, uiPort, uiCodecEndpoint: codec.url });
    rig = await Rig.start({ address: temporal.address, payloadKeys: keys });
    browser = await launchChromium();
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    await rig.close();
    await temporal.stop();
    await codec.stop();
  });

  async function stuckOrder() {
    const request = provisionRequest({ items: [{ password: canary }] });
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized', match: { label: request.label } });
    const saga = await rig.sagas.provision(request);
    await untilWaiting(saga, 'stuck');
    return saga;
  }
  const open = (codecToken?: string) =>
    OperatorPage.open(
      browser,
      temporal.uiUrl ?? '',
      rig.namespace,
      codecToken === undefined ? undefined : { url: codec.url, token: codecToken },
    );

  it('shows clear text to whoever has the token, but no secret, and takes their decision', async () => {
    const saga = await stuckOrder();
    const operator = await open(token);
    try {
      await operator.openRun(saga.workflowId, saga.runId);
      await operator.untilShown('"[redacted]"');
      expect(await operator.allText()).toContain('cloud_servers_standard');
      expect(await operator.allText()).not.toContain(canary);
      expect(await operator.currentDetails(/Stuck/)).toContain('The provider refuses our credentials');
      expect(await operator.sendUpdate('retry', '{"by":"Ada","note":"the token was renewed"}')).toBeUndefined();
      await operator.untilStatus('Completed');
      expect(await saga.result()).toMatchObject({ decisions: [{ by: 'Ada', note: 'the token was renewed' }] });
    } finally {
      await operator.close();
    }
  });

  it.each([
    ['no token', undefined],
    ['a wrong token', 'f'.repeat(48)],
  ])('shows nothing of it with %s', async (_title, presented) => {
    const saga = await stuckOrder();
    const operator = await open(presented);
    try {
      await operator.openRun(saga.workflowId, saga.runId);
      await operator.untilShown('Codec Server could not connect');
      // The payload as it is stored: its metadata are base64 of "binary/encrypted".
      await operator.untilShown(Buffer.from('binary/encrypted').toString('base64'));
      const history = await operator.allText();
      await operator.tab('user-metadata');
      await operator.untilShown('Current Details');
      const text = `${history}${await operator.allText()}`;
      expect(text).toContain(saga.workflowId);
      for (const clear of ['cloud_servers_standard', 'did not succeed', 'redacted', canary]) {
        expect(text).not.toContain(clear);
      }
    } finally {
      await operator.close();
    }
    await saga.cancel();
  });
});
