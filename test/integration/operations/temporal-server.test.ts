/** To Temporal over TLS: who shows a certificate or a key comes in, who does not is told in a sentence. */
import { setTimeout as pause } from 'node:timers/promises';
import { startProcess } from '../../../scripts/processes';
import { readWorkerConfig } from '../../../src/config';
import { connectToTemporal } from '../../../src/operations/temporal-server';
import { Authority, type Certificate } from '../../support/certificates';
import { runHere } from '../../support/command-line';
import { folderForFile } from '../../support/folder';
import { programOf } from '../../support/programs';
import { startKeyProxy, startTlsProxy, type KeyProxy, type Proxy } from '../../support/proxies';
import { provisionRequest } from '../../support/requests';
import { rigForFile } from '../../support/rig';

const rig = rigForFile({ worker: false });
const folder = folderForFile();
const apiKey = 'key-1234';
let authority: Authority;
/** Nobody trusts it. */
let stranger: Authority;
let asksForCertificate: Proxy;
let asksForKey: KeyProxy;
beforeAll(async () => {
  [authority, stranger] = [new Authority(), new Authority()];
  // Its name is not its address: the setting has to say whom to expect.
  const certificate = authority.forServer('DNS:temporal.test');
  const clientAuthority = authority.certificate;
  asksForCertificate = await startTlsProxy({ certificate, to: rig.address, clientAuthority });
  asksForKey = await startKeyProxy(authority.forServer('DNS:localhost'), { to: rig.address, apiKey });
});
afterAll(async () => {
  await asksForCertificate.close();
  await asksForKey.close();
  authority.remove();
  stranger.remove();
});

const tls = () => ({
  ...rig.environment,
  TEMPORAL_ADDRESS: asksForCertificate.address,
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: authority.certificate.certFile,
  TEMPORAL_TLS_SERVER_NAME: 'temporal.test',
});
const shown = ({ certFile, keyFile }: Certificate) => ({
  ...tls(),
  TEMPORAL_TLS_CLIENT_CERT_PATH: certFile,
  TEMPORAL_TLS_CLIENT_KEY_PATH: keyFile,
});

/** From a command line to a worker, both over the given connection. */
async function sagaGoesThrough(environment: Record<string, string>): Promise<void> {
  const worker = await startProcess(programOf('worker'), environment);
  try {
    const request = provisionRequest();
    const { status, out, err } = await runHere(['provision', '-'], JSON.stringify(request), environment);
    expect([status, err]).toEqual([0, '']);
    expect(out).toMatch(new RegExp(`^provision/${request.reference} is done$`, 'm'));
    expect(rig.ordersOf(request)).toHaveLength(1);
  } finally {
    await worker.kill('SIGTERM');
  }
}

it('with a client certificate of our authority a saga goes through', () =>
  sagaGoesThrough(shown(authority.forClient('worker.test'))));

it('a worker ends in order once its client certificate and key are renewed, and not before', async () => {
  const put = (kind: 'cert' | 'key', from: Certificate) => folder.write(`client-${kind}.pem`, from[kind]);
  const [old, young] = [authority.forClient('worker.test'), authority.forClient('worker.test')];
  const environment = shown({ ...old, certFile: put('cert', old), keyFile: put('key', old) });
  const worker = await startProcess(programOf('worker'), environment);
  let hasEnded = false;
  void worker.exited.then(() => (hasEnded = true));
  put('cert', young);
  await pause(12_000);
  expect(hasEnded).toBe(false);
  put('key', young);
  expect(await worker.exited).toEqual({ status: 75, signal: null });
  await sagaGoesThrough(environment);
});

it('a worker whose provider has another authority ends so, too, once a certificate is there', async () => {
  const put = (pem: string | Buffer) => folder.write('provider-ca.pem', pem);
  const environment = { ...rig.environment, PROVIDER_CA_FILE: put(authority.certificate.cert) };
  const worker = await startProcess(programOf('worker'), environment);
  let hasEnded = false;
  void worker.exited.then(() => (hasEnded = true));
  put('half a certi');
  await pause(12_000);
  expect(hasEnded).toBe(false);
  put(stranger.certificate.cert);
  expect(await worker.exited).toEqual({ status: 75, signal: null });
});

it('with an API key a saga goes through, over TLS without another word', async () => {
  const TEMPORAL_ADDRESS = `localhost:${asksForKey.port}`;
  const TEMPORAL_TLS_SERVER_CA_CERT_PATH = authority.certificate.certFile;
  const withKey = { TEMPORAL_ADDRESS, TEMPORAL_TLS_SERVER_CA_CERT_PATH, TEMPORAL_API_KEY: apiKey };
  await sagaGoesThrough({ ...rig.environment, ...withKey });
  expect(asksForKey.let.map((path) => path.split('/').at(-1))).toEqual(
    expect.arrayContaining(['PollWorkflowTaskQueue', 'RespondActivityTaskCompleted', 'StartWorkflowExecution']),
  );
});

// How a worker ends that has no connection: test/integration/worker/health.test.ts.
it.each<[string, () => Record<string, string>]>([
  ['no client certificate', tls],
  ['one of another authority', () => shown(stranger.forClient('worker.test'))],
  [
    'a server that is not who it must be',
    () => ({ ...shown(authority.forClient('a')), TEMPORAL_TLS_SERVER_NAME: 'b.test' }),
  ],
  [
    'a server of an authority that is not trusted',
    () => ({ ...shown(authority.forClient('a')), TEMPORAL_TLS_SERVER_CA_CERT_PATH: stranger.certificate.certFile }),
  ],
])('with %s, neither worker nor command line get in, and say so in a sentence', async (_what, connection) => {
  const environment = connection();
  const connecting = connectToTemporal(readWorkerConfig(environment), () => undefined);
  await expect(connecting).rejects.toThrow(/^no connection to Temporal at 127\.0\.0\.1.*[^\n]$/);
  const command = await runHere(['list'], '', environment);
  expect(command).toMatchObject({ status: 3, out: '', err: expect.stringMatching(/the TLS handshake fails/) });
  expect(command.err.trim().split('\n')).toHaveLength(1);
});
