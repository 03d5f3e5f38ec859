/** What a worker's probes are told, by a worker that lives, has lost Temporal, or is stopped without it. */
import { startProcess, type RunningProcess } from '../../../scripts/processes';
import { programOf } from '../../support/programs';
import { startLink, type Link } from '../../support/proxies';
import { provisionRequest } from '../../support/requests';
import { Rig, until } from '../../support/rig';
import { healthOf } from './probes';

let rig: Rig;
let line: Link;
let worker: RunningProcess;
beforeAll(async () => {
  rig = await Rig.start({ worker: false });
  line = await startLink(rig.address);
  worker = await startProcess(programOf('worker'), {
    ...rig.environment,
    TEMPORAL_ADDRESS: line.address,
    HEALTH_ADDRESS: '127.0.0.1:0',
    PROVIDER_TIMEOUT_MS: '1000',
  });
});
afterAll(async () => {
  await worker.kill('SIGKILL');
  await line.close();
  await rig.close();
});

it('is ready when it runs, and answers to nothing else', async () => {
  const { ready, live, url } = healthOf(worker);
  expect(await ready()).toEqual({ status: 200, said: 'ready' });
  expect(await live()).toEqual({ status: 200, said: 'live' });
  expect((await fetch(`${url}/`)).status).toBe(404);
});

it('is alive but not ready while Temporal cannot be reached, and ready again after', async () => {
  const { ready, live } = healthOf(worker);
  line.cut();
  expect(await ready()).toEqual({ status: 503, said: 'Temporal does not answer' });
  expect(await live()).toMatchObject({ status: 200 });
  line.repair();
  await until(async () => (await ready()).status === 200);
  expect(await (await rig.sagas.provision(provisionRequest())).result()).toMatchObject({ leftovers: [] });
});
