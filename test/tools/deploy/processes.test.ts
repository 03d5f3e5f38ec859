/**
 * The processes of docker-compose.yml with its settings, as they are shipped, but without containers. Only where things
 * are is said anew: hosts, ports and the namespace.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { parseEnv } from 'node:util';
import { composeService, type Variables } from '../../../deploy/compose';
import { SandboxClient } from '../../../sandbox/client';
import { firewallsOf, ordersWithLabel } from '../../../sandbox/sentences';
import { freePorts } from '../../../scripts/reachable';
import { startProcess, type RunningProcess } from '../../../scripts/processes';
import { parsePayloadKeys } from '../../../src/security/keys';
import { PostgresServer } from '../../integration/journal/postgres';
import { programOf } from '../../support/programs';
import { provisionRequest } from '../../support/requests';
import { Rig } from '../../support/rig';
import { asPsql } from './psql';

const root = join(__dirname, '..', '..', '..');

/** As somebody makes it who follows docs/deploying.md. */
const variables = parseEnv(
  execFileSync('sh', [join(root, 'deploy', 'make-env.sh')], { encoding: 'utf8' }),
) as Variables;

let rig: Rig;
let healthUrl: string;
let metricsUrl: string;
let postgres: PostgresServer;
const running: Record<string, RunningProcess> = {};

/** Its settings in the compose file, these changed. */
async function start(service: string, program: string, changes: Variables): Promise<string> {
  const { environment } = composeService(service, variables);
  // Nothing is made up here: what is changed is there to be changed.
  expect(Object.keys(environment)).toEqual(expect.arrayContaining(Object.keys(changes)));
  running[service] = await startProcess(program, { ...environment, ...changes });
  return running[service].ready.replace(/^.* ready: /, '');
}

/** On a PostgreSQL of this machine's own, set up and migrated as the compose file has it. */
async function makeJournal(): Promise<string> {
  postgres = await PostgresServer.start();
  const { environment: made } = composeService('journal-database', variables);
  const { PATH, ...here } = asPsql(postgres);
  expect(Object.keys(made)).toEqual(expect.arrayContaining(Object.keys(here)));
  execFileSync('sh', [join(root, 'deploy', 'journal', 'setup-database.sh')], { env: { PATH, ...made, ...here } });
  const { environment, command = [] } = composeService('journal-schema', variables);
  const url = new URL(environment['JOURNAL_URL']!);
  url.host = `${here.PGHOST}:${here.PGPORT}`;
  const [program = '', ...args] = command;
  const said = execFileSync(
    process.execPath,
    [join(dirname(programOf('starter')), program.replace(/^dist\//, '')), ...args],
    {
      env: { ...environment, JOURNAL_URL: url.href },
      encoding: 'utf8',
    },
  );
  expect(said).toMatch(/is of schema \d+ now\n$/);
  return url.href;
}

beforeAll(async () => {
  const journalUrl = await makeJournal();
  rig = await Rig.start({
    worker: false,
    payloadKeys: parsePayloadKeys(variables['PAYLOAD_KEYS']!),
    journal: { postgres: journalUrl },
  });
  const sandbox = await start('sandbox', 'sandbox/main.ts', { SANDBOX_HOST: '127.0.0.1', SANDBOX_PORT: '0' });
  await start('codec-server', programOf('codec-server'), { CODEC_ADDRESS: '127.0.0.1:0' });
  const [health, metrics] = await freePorts(2);
  healthUrl = `http://127.0.0.1:${health}`;
  metricsUrl = `http://127.0.0.1:${metrics}/metrics`;
  await start('worker', programOf('worker'), {
    HEALTH_ADDRESS: `127.0.0.1:${health}`,
    METRICS_ADDRESS: `127.0.0.1:${metrics}`,
    TEMPORAL_ADDRESS: rig.address,
    TEMPORAL_NAMESPACE: rig.namespace,
    JOURNAL_URL: journalUrl,
    PROVIDER_BASE_URL: sandbox,
  });
});
afterAll(async () => {
  await Promise.all(Object.values(running).map((process) => process.kill('SIGKILL')));
  await rig.close();
  await postgres.stop();
});

it('run a saga from the order to its firewalls', async () => {
  const request = provisionRequest({ firewalls: [150] });
  const saga = await rig.sagas.provision(request);
  const { servers } = await saga.result();
  const ledger = await new SandboxClient(running['sandbox']!.ready.replace(/^.* ready: /, '')).ledger();
  expect(ordersWithLabel(ledger, request.reference)).toHaveLength(1);
  expect(servers.map(({ vmObjectId }) => firewallsOf(ledger, vmObjectId))).toEqual([[150]]);
  const kept = await postgres.ask('select reference, outcome from ending', { database: 'journal' });
  expect(kept).toEqual([{ reference: request.reference, outcome: 'done' }]);
});

it('show it to the Web UI with the token, and to nobody without', async () => {
  const request = provisionRequest();
  const saga = await rig.sagas.provision(request);
  await saga.result();
  const { events } = await rig.temporal.workflow.getHandle(saga.workflowId).fetchHistory();
  const [payload] = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
  const metadata = Object.entries(payload?.metadata ?? {}).map(([name, value]) => [name, base64(value)]);
  const body = JSON.stringify({
    payloads: [{ metadata: Object.fromEntries(metadata) as object, data: base64(payload!.data!) }],
  });
  const { TEMPORAL_CORS_ORIGINS: origin = '' } = composeService('ui', variables).environment;
  const { port } = new URL(running['codec-server']!.ready.replace(/^.* ready: /, ''));
  const decode = (token: string) =>
    fetch(`http://127.0.0.1:${port}/decode`, {
      method: 'POST',
      headers: { origin, authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body,
    });

  const shown = await decode(variables['CODEC_TOKEN']!.replace(/^operators:/, ''));
  expect([shown.status, shown.headers.get('access-control-allow-origin')]).toEqual([200, origin]);
  const { payloads } = (await shown.json()) as { payloads: { data: string }[] };
  expect(JSON.parse(Buffer.from(payloads[0]!.data, 'base64').toString())).toMatchObject({ label: request.label });
  expect((await decode('f'.repeat(48))).status).toBe(401);
});

/** As the container engine asks, in the process's own container, at another port. */
function isHealthy(service: string, url: string): boolean {
  const [, ...command] = composeService(service, variables).healthcheck?.test ?? [];
  const args = command.slice(1).map((arg) => arg.replace(/http:\/\/[\d.:]+/, url));
  return spawnSync(process.execPath, args).status === 0;
}

it('are healthy, as their checks see it, and measured', async () => {
  const codecPort = new URL(running['codec-server']!.ready.replace(/^.* ready: /, '')).port;
  expect(isHealthy('worker', healthUrl)).toBe(true);
  expect(isHealthy('codec-server', `http://127.0.0.1:${codecPort}`)).toBe(true);
  const [nobody] = await freePorts(1);
  expect(isHealthy('worker', `http://127.0.0.1:${nobody}`)).toBe(false);
  expect(await (await fetch(metricsUrl)).text()).toContain('temporal_num_pollers');
});

it('stop in good order', async () => {
  const stopped = await Promise.all(Object.values(running).map((process) => process.kill('SIGTERM')));
  expect(stopped).toEqual(stopped.map(() => ({ status: 0, signal: null })));
});
