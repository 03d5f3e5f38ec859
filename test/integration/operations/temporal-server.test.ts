/** To Temporal over TLS: who shows a certificate or a key comes in, who does not is told in a sentence. */
import { randomBytes } from 'node:crypto';
import { ordersWithLabel } from '../../../sandbox/sentences';
import { startProcess } from '../../../scripts/processes';
import { parsePayloadKeys } from '../../../src/security/keys';
import { runCommand } from '../../support/command-line';
import { programOf } from '../../support/programs';
import { provisionRequest } from '../../support/requests';
import { Rig } from '../../support/rig';
import { Authority } from '../../support/certificates';
import { startKeyProxy, startTlsProxy, type KeyProxy, type Proxy } from '../../support/proxies';

let authority: Authority;
/** Nobody trusts it. */
let stranger: Authority;
beforeAll(() => {
  [authority, stranger] = [new Authority(), new Authority()];
});
afterAll(() => {
  authority.remove();
  stranger.remove();
});

type Environment = Record<string, string>;

/** A saga from a command line to a worker, both over the given connection. */
async function sagaThrough(rig: Rig, connection: Environment): Promise<void> {
  const environment = { ...rig.environment, ...connection };
  const worker = await startProcess(programOf('worker'), environment);
  try {
    const request = provisionRequest();
    const { status, out, err } = await runCommand(['provision', '-'], environment, JSON.stringify(request));
    expect([status, err]).toEqual([0, '']);
    expect(out).toMatch(new RegExp(`^provision/${request.reference} is done$`, 'm'));
    expect(ordersWithLabel(rig.sandbox.ledger, request.reference)).toHaveLength(1);
  } finally {
    await worker.kill('SIGTERM');
  }
}

/** What a worker and a command line say that are not let in. */
async function complaints(rig: Rig, connection: Environment) {
  const environment = { ...rig.environment, ...connection };
  const [worker, command] = await Promise.all([
    startProcess(programOf('worker'), environment).then(
      async (started) => {
        await started.kill('SIGTERM');
        return started.ready;
      },
      (error: unknown) => (error as Error).message,
    ),
    runCommand(['list'], environment),
  ]);
  const said = worker.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
  return { worker: said.slice(1), ended: said[0], command };
}

describe('with client certificates', () => {
  let rig: Rig;
  let proxy: Proxy;
  const keys = `k1:${randomBytes(32).toString('base64')}`;
  let tls: Environment;
  beforeAll(async () => {
    rig = await Rig.start({ worker: false, payloadKeys: parsePayloadKeys(keys) });
    // Its name is not its address: the setting has to say whom to expect.
    const certificate = authority.forServer('DNS:temporal.test');
    proxy = await startTlsProxy({ certificate, to: rig.address, clientAuthority: authority.certificate });
    tls = {
      TEMPORAL_ADDRESS: proxy.address,
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: authority.certificate.certFile,
      TEMPORAL_TLS_SERVER_NAME: 'temporal.test',
      PAYLOAD_KEYS: keys,
    };
  });
  afterAll(async () => {
    await proxy.close();
    await rig.close();
  });
  const shown = ({ certFile, keyFile }: { certFile: string; keyFile: string }) => ({
    ...tls,
    TEMPORAL_TLS_CLIENT_CERT_PATH: certFile,
    TEMPORAL_TLS_CLIENT_KEY_PATH: keyFile,
  });

  it('of our authority a saga goes through', async () => {
    await sagaThrough(rig, shown(authority.forClient('worker.test')));
  });

  it.each([
    ['none', () => tls],
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
    const { worker, ended, command } = await complaints(rig, connection());
    expect(worker).toEqual([expect.stringMatching(/^worker cannot start: no connection to Temporal at 127\.0\.0\.1/)]);
    expect(ended).toMatch(/ended with 1/);
    expect(command).toMatchObject({ status: 3, out: '', err: expect.stringMatching(/the TLS handshake fails/) });
    expect(command.err.trim().split('\n')).toHaveLength(1);
  });
});

describe('with an API key', () => {
  let rig: Rig;
  let proxy: KeyProxy;
  let tls: Environment;
  const apiKey = `key-${randomBytes(12).toString('hex')}`;
  beforeAll(async () => {
    rig = await Rig.start({ worker: false });
    proxy = await startKeyProxy(authority.forServer('DNS:localhost'), { to: rig.address, apiKey });
    tls = {
      TEMPORAL_ADDRESS: `localhost:${proxy.port}`,
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: authority.certificate.certFile,
    };
  });
  afterAll(async () => {
    await proxy.close();
    await rig.close();
  });

  it('a saga goes through, over TLS without another word', async () => {
    await sagaThrough(rig, { ...tls, TEMPORAL_API_KEY: apiKey });
    expect(proxy.let.map((path) => path.split('/').at(-1))).toEqual(
      expect.arrayContaining(['PollWorkflowTaskQueue', 'RespondActivityTaskCompleted', 'StartWorkflowExecution']),
    );
  });
});
