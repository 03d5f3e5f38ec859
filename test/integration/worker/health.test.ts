/**
 * A worker as a process: it does not start where it cannot work, and says why in one sentence; what its probes are told
 * while it lives, has lost Temporal, or is stopped in the middle of a call; and a token that is renewed under it.
 */
import { startProcess, type RunningProcess } from '../../../scripts/processes';
import { whyTooOld, whyUnsafe } from '../../../src/domain/server-version';
import { folderForFile } from '../../support/folder';
import { programOf } from '../../support/programs';
import { startLink, type Link } from '../../support/proxies';
import { closeAll, proxyTo } from '../../support/stand-in';
import { provisionRequest } from '../../support/requests';
import { rigForFile, until } from '../../support/rig';

const rig = rigForFile({ worker: false });
const folder = folderForFile();
const startWorker = (changes: Record<string, string> = {}) =>
  startProcess(programOf('worker'), { ...rig.environment, HEALTH_ADDRESS: '127.0.0.1:0', ...changes });

describe('cannot start', () => {
  it('in a namespace that does not exist', async () => {
    const started = startWorker({ TEMPORAL_NAMESPACE: 'nowhere' });
    const sentence =
      'worker cannot start: the Temporal server at [^ ]+ has no namespace nowhere: set TEMPORAL_NAMESPACE to one that it has, ' +
      'or create it with `temporal operator namespace create --namespace nowhere --retention 30d`';
    await expect(started).rejects.toThrow(new RegExp(`ended with 1 .*\\n(\\{.*\\n)*${sentence}\\n$`));
  });

  it('of a Temporal server that is too old, and not of a younger one', () => {
    for (const version of ['1.24.3', '1.9.0', '0.30.1']) {
      expect(whyTooOld(version)).toBe(
        `the Temporal server has version ${version}; sagas need 1.25 or later: upgrade it`,
      );
    }
    for (const version of ['1.25.0', '1.29.1', '2.0.0', '']) expect(whyTooOld(version)).toBeUndefined();
  });

  it('of a Temporal server with known holes, and of no other', () => {
    for (const version of ['1.29.1', '1.30.6', '1.31.2']) {
      expect(whyUnsafe(version)).toContain('fixed in 1.30.7, 1.31.3, 1.32.0');
    }
    for (const version of ['1.30.7', '1.31.10', '1.32.0', '1.33.0-rc.1', '2.0.0', '']) {
      expect(whyUnsafe(version)).toBeUndefined();
    }
  });
});

describe('its probes', () => {
  let line: Link;
  let worker: RunningProcess;
  let url: string;
  beforeAll(async () => {
    line = await startLink(rig.address);
    worker = await startWorker({ TEMPORAL_ADDRESS: line.address });
    [, url = ''] = /, health (http:\S+)$/.exec(worker.ready) ?? [];
  });
  afterAll(async () => {
    await worker.kill('SIGKILL');
    await line.close();
  });

  const probe = async (path: string) => {
    const response = await fetch(`${url}${path}`, { headers: { connection: 'close' } });
    return { status: response.status, said: (await response.text()).trim() };
  };

  it('are told that it is ready when it runs, and nothing else', async () => {
    expect(await probe('/ready')).toEqual({ status: 200, said: 'ready' });
    expect(await probe('/live')).toEqual({ status: 200, said: 'live' });
    expect(await probe('/')).toMatchObject({ status: 404 });
  });

  it('that it is alive but not ready while Temporal cannot be reached, and ready again after', async () => {
    line.cut();
    expect(await probe('/ready')).toEqual({ status: 503, said: 'Temporal does not answer' });
    expect(await probe('/live')).toMatchObject({ status: 200 });
    line.repair();
    await until(async () => (await probe('/ready')).status === 200);
    expect(await (await rig.sagas.provision(provisionRequest())).result()).toMatchObject({ leftovers: [] });
  });

  it('that it takes no work while it is stopped in a call, which ends and is known', async () => {
    const request = provisionRequest();
    const gate = rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'gate', hold: 'before' });
    const saga = await rig.sagas.provision(request);
    await rig.sandbox.whenStruck(gate);
    const stopped = worker.kill('SIGHUP');
    const { said } = await until(async () => {
      const probed = await probe('/ready');
      return probed.status === 503 && probed;
    });
    expect(said).toBe('the worker takes no work: it is DRAINING');
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGTERM'] as const) process.kill(worker.pid, signal);
    expect(await probe('/live')).toEqual({ status: 200, said: 'live' });
    expect(rig.ordersOf(request)).toEqual([]);
    rig.sandbox.faults.release(gate);
    expect(await stopped).toEqual({ status: 0, signal: null });

    worker = await startWorker();
    expect(await saga.result()).toMatchObject({ leftovers: [], decisions: [] });
    expect(rig.ordersOf(request)).toHaveLength(1);
  });
});

it('a token from a file is read again when the provider takes the old one no more', async () => {
  const renew = (token: string) => {
    rig.sandbox.configure({ token });
    return folder.write('token', `${token}\n`);
  };
  const { url: HTTP_PROXY, connects } = await proxyTo(new URL(rig.sandbox.url).port);
  const provider = { PROVIDER_BASE_URL: 'http://provider.invalid', PROVIDER_ALLOW_HTTP: 'true', HTTP_PROXY };
  const worker = await startWorker({ ...provider, PROVIDER_TOKEN_FILE: renew('token-one') });
  const added = async () => {
    const request = provisionRequest();
    const saga = await rig.sagas.provision(request);
    expect(await saga.result()).toMatchObject({ decisions: [] });
    return rig.callsOf(request, 'add-cart-item').map(({ status }) => status);
  };
  expect(await added()).toEqual([200]);
  renew('token-two');
  expect(await added()).toEqual([401, 200]);
  // From now on without asking twice.
  expect(await added()).toEqual([200]);
  await worker.kill('SIGTERM');
  expect(new Set(connects.map(([asked]) => asked))).toEqual(new Set(['provider.invalid:80']));
  await closeAll();
});
