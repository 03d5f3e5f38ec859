/** To the provider: a token that is renewed under a running worker, and TLS that is verified. */
import { callsTo, ordersWithLabel } from '../../../sandbox/sentences';
import { startProcess, type RunningProcess } from '../../../scripts/processes';
import { OrderSagaClient } from '../../../src/client/client';
import { folderForFile } from '../../support/folder';
import { programOf } from '../../support/programs';
import { planIdOf, provisionRequest } from '../../support/requests';
import { Rig } from '../../support/rig';
import { Authority } from '../../support/certificates';
import { startTlsProxy, type Proxy } from '../../support/proxies';

let rig: Rig;
const folder = folderForFile();
const workers: RunningProcess[] = [];
beforeAll(async () => {
  rig = await Rig.start({ worker: false });
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.kill('SIGTERM')));
  await rig.close();
});

/** A worker process of a task queue of its own, and the client of that queue. */
async function startWorker(taskQueue: string, changes: Record<string, string>): Promise<OrderSagaClient> {
  workers.push(await startProcess(programOf('worker'), { ...rig.environment, TASK_QUEUE: taskQueue, ...changes }));
  return new OrderSagaClient(rig.temporal, { taskQueue });
}

/** The statuses of the calls that add this request's item. */
const addsOf = (reference: string) =>
  callsTo(rig.sandbox.ledger, 'add-cart-item')
    .filter(({ names }) => names.planId?.includes(planIdOf(reference)))
    .map(({ status }) => status);
const orders = (reference: string) => ordersWithLabel(rig.sandbox.ledger, reference);

describe('a token from a file', () => {
  let sagas: OrderSagaClient;
  let file: string;
  const renew = (token: string) => {
    rig.sandbox.configure({ token });
  };
  beforeAll(async () => {
    file = folder.write('token', 'token-one\n');
    renew('token-one');
    sagas = await startWorker('token', { PROVIDER_TOKEN_FILE: file });
    await (await sagas.provision(provisionRequest())).result();
  });
  afterAll(() => {
    rig.sandbox.configure({ token: null });
  });

  it('is read again when the provider takes the old one no more, and nobody notices', async () => {
    folder.write('token', 'token-two\n');
    renew('token-two');
    const request = provisionRequest();
    const saga = await sagas.provision(request);
    expect(await saga.result()).toMatchObject({ decisions: [] });
    expect(addsOf(request.reference)).toEqual([401, 200]);
    expect(orders(request.reference)).toHaveLength(1);
    // From now on without asking twice.
    const next = provisionRequest();
    await (await sagas.provision(next)).result();
    expect(addsOf(next.reference)).toEqual([200]);
  });
});

describe('TLS', () => {
  let authority: Authority;
  const proxies: Proxy[] = [];
  const port = (proxy: Proxy) => String(proxy.port);
  async function front(...names: string[]): Promise<Proxy> {
    const certificate = authority.forServer(...names);
    const proxy = await startTlsProxy({ certificate, to: new URL(rig.sandbox.url).host, protocol: 'http/1.1' });
    proxies.push(proxy);
    return proxy;
  }
  beforeAll(() => {
    authority = new Authority();
  });
  afterAll(async () => {
    await Promise.all(proxies.map((proxy) => proxy.close()));
    authority.remove();
  });

  it('with a certificate of the authority that the setting names, an order goes through', async () => {
    const sagas = await startWorker('trusting', {
      PROVIDER_BASE_URL: `https://127.0.0.1:${port(await front('IP:127.0.0.1'))}`,
      PROVIDER_CA_FILE: authority.certificate.certFile,
    });
    const request = provisionRequest({ firewalls: [143] });
    const saga = await sagas.provision(request);
    expect(await saga.result()).toMatchObject({ servers: [{ firewalls: [143], verified: true }] });
    expect(orders(request.reference)).toHaveLength(1);
  });
});
