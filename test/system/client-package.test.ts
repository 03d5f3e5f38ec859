/**
 * The package of the client, as a stranger's backend gets it: packed, installed into an empty project at both ends of
 * the range of its peers, type-checked, and ordering on a real server, encrypted.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildClient } from '../../scripts/build-client';
import { parsePayloadKeys } from '../../src/security/keys';
import { newKey } from '../support/keys';
import { provisionRequest } from '../support/requests';
import { Rig } from '../support/rig';
import { projectFolder } from '../support/project';

const run = promisify(execFile);
const bin = (name: string) => join(projectFolder, 'node_modules', '.bin', name);

interface Manifest {
  version: string;
  peerDependencies: Record<string, string>;
}

const readManifest = (at: string) => JSON.parse(readFileSync(join(at, 'package.json'), 'utf8')) as Manifest;
const { peerDependencies } = readManifest(join(projectFolder, 'packages', 'client'));
const peers = Object.keys(peerDependencies);
const oldest = /^>=(\S+) /.exec(peerDependencies['@temporalio/client'] ?? '')?.[1] ?? '';
const newest = readManifest(join(projectFolder, 'node_modules', '@temporalio', 'client')).version;

const PAYLOAD_KEYS = `k1:${newKey()}`;
let rig: Rig;
let folder: string;
let tarball: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'order-saga-client-'));
  const built = join(folder, 'package');
  mkdirSync(built);
  for (const name of ['package.json', 'README.md'])
    cpSync(join(projectFolder, 'packages', 'client', name), join(built, name));
  const payloadKeys = parsePayloadKeys(PAYLOAD_KEYS);
  [rig] = await Promise.all([Rig.start({ payloadKeys }), buildClient(built)]);
  const { stdout } = await run('npm', ['pack', '--pack-destination', folder], { cwd: built });
  tarball = join(folder, stdout.trim().split('\n').at(-1) ?? '');
});
afterAll(async () => {
  await rig.close();
  rmSync(folder, { recursive: true, force: true });
});

const using = `
export async function order({ OrderSagaClient, SagaFailedError, createDataConverter, parsePayloadKeys }, { Client, Connection }) {
  const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace, PAYLOAD_KEYS } = process.env;
  const connection = await Connection.connect({ address });
  const dataConverter = createDataConverter(parsePayloadKeys(PAYLOAD_KEYS));
  const sagas = new OrderSagaClient(new Client({ connection, namespace, dataConverter }));
  const request = JSON.parse(process.env.REQUEST);
  const saga = await sagas.provision(request);
  const { vmObjectIds } = await saga.reached('servers');
  const { servers, outcome } = await saga.result();
  const other = await sagas.provision({ ...request, reference: request.reference + '-2', guard: { maxServers: 0 } });
  const failed = await other.result().catch((error) => error);
  console.log(JSON.stringify({ outcome, ids: servers.length, known: vmObjectIds.length, type: failed.type, typed: failed instanceof SagaFailedError }));
  await connection.close();
}
`;
const files: Record<string, string> = {
  'order.mjs': using,
  // Loaded another way: it is one package.
  'backend.mjs': `
import { createRequire } from 'node:module';
import * as saga from 'order-saga-client';
import * as temporal from '@temporalio/client';
import { order } from './order.mjs';
const { SagaFailedError } = createRequire(import.meta.url)('order-saga-client');
await order({ ...saga, SagaFailedError }, temporal);
`,
  'backend.cjs': `import('./order.mjs').then(({ order }) => order(require('order-saga-client'), require('@temporalio/client')));`,
  'strict.ts': `
import { Client, Connection } from '@temporalio/client';
import { createDataConverter, OrderSagaClient, parsePayloadKeys, SagaFailedError, type ProgressView, type ResultOf } from 'order-saga-client';
export function connect(connection: Connection, keys: string): Client {
  return new Client({ connection, dataConverter: createDataConverter(parsePayloadKeys(keys)) });
}
export async function buy(client: Client, seen: ProgressView[]): Promise<ResultOf['provisionServers']> {
  const saga = await new OrderSagaClient(client).provision({
    reference: 'R', account: 'AB-1', label: 'x',
    items: [{ billing_cycle: 1, plan_id: 17, plan_type: 'cloud_servers_standard', os_template_id: 3, password: 'p' }],
  });
  for await (const progress of saga.events()) seen.push(progress);
  try { return await saga.result(); } catch (error) {
    if (error instanceof SagaFailedError) { const type: 'OrderRejected' | string = error.type; throw new Error(type); }
    throw error;
  }
}
// @ts-expect-error a request needs an account
export const wrong = (sagas: OrderSagaClient) => sagas.provision({ reference: 'R', items: [] });
`,
};

async function project(version: string): Promise<string> {
  const at = join(folder, version);
  mkdirSync(at);
  writeFileSync(join(at, 'package.json'), JSON.stringify({ name: 'backend', private: true, type: 'module' }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(at, name), text);
  const wanted = [tarball, ...peers.map((name) => `${name}@${version}`)];
  await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--omit=optional', ...wanted], {
    cwd: at,
  });
  return at;
}

describe.each([oldest, newest])('with Temporal’s client %s', (version) => {
  let at: string;
  beforeAll(async () => {
    at = await project(version);
  });

  it('brings neither a database nor a worker', () => {
    const installed = readFileSync(join(at, 'node_modules', '.package-lock.json'), 'utf8');
    expect(installed).toContain('"node_modules/order-saga-client"');
    expect(installed).not.toMatch(/node_modules\/(pg|libsql|kysely|@temporalio\/(worker|core-bridge))"/);
  });

  it.each(['backend.mjs', 'backend.cjs'])('orders encrypted from %s', async (name) => {
    const REQUEST = JSON.stringify(provisionRequest({ firewalls: undefined }));
    const env = { ...process.env, ...rig.environment, REQUEST, PAYLOAD_KEYS };
    const { stdout } = await run(process.execPath, [join(at, name)], { env });
    expect(JSON.parse(stdout)).toEqual({ outcome: 'done', ids: 1, known: 1, type: 'GuardViolated', typed: true });
  });

  it.each([{ module: 'nodenext' }, { module: 'esnext', moduleResolution: 'bundler' }])('is typed: %j', async (how) => {
    const compilerOptions = {
      ...{ target: 'es2022', strict: true, noEmit: true, exactOptionalPropertyTypes: true, skipLibCheck: true },
      ...{ types: ['node'], typeRoots: [join(projectFolder, 'node_modules', '@types')], ...how },
    };
    writeFileSync(join(at, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['strict.ts'] }));
    const checked = await run(process.execPath, [bin('tsc'), '-p', at]).catch(
      (error: unknown) => error as { stdout: string },
    );
    expect(checked.stdout).toBe('');
  });
});

describe('publint and attw', () => {
  const judgesOf = (at: string) => [
    () => run(process.execPath, [bin('publint'), at]),
    () => run(process.execPath, [bin('attw'), '--pack', at, '--no-color']),
  ];

  it('find nothing wrong', async () => {
    await Promise.all(judgesOf(join(folder, 'package')).map((judge) => judge()));
  });

  it('find that a package lacks a file, and has types of the other kind of module', async () => {
    const at = join(folder, 'broken');
    cpSync(join(folder, 'package'), at, { recursive: true });
    const manifest = readFileSync(join(at, 'package.json'), 'utf8');
    writeFileSync(
      join(at, 'package.json'),
      manifest.replace('index.d.mts', 'client/index.d.ts').replaceAll('index.js', 'gone.js'),
    );
    for (const judge of judgesOf(at)) await expect(judge()).rejects.toThrow();
  });
});
