/**
 * Which versions the native stack takes: those of docker-compose.yml, or what the environment names. Nothing is built
 * here.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readCompose } from '../../../deploy/compose';
import {
  postgresFolder,
  resolvePrograms,
  resolveUi,
  serverVersion,
  uiVersion,
  whyNoStack,
} from '../../../deploy/stack/programs';

let cache: string;
let env: NodeJS.ProcessEnv;
beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), 'order-saga-programs-'));
  env = { ORDER_SAGA_CACHE: cache, ORDER_SAGA_POSTGRES: postgresPrograms(), PATH: '' };
});
afterEach(() => {
  rmSync(cache, { recursive: true, force: true });
});

function postgresPrograms(): string {
  const folder = join(cache, 'postgres');
  mkdirSync(folder);
  for (const name of ['initdb', 'postgres']) {
    writeFileSync(join(folder, name), '#!/bin/sh\n');
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

/** As an earlier build left it. */
function cached(name: string): string {
  const folder = join(cache, name);
  mkdirSync(folder);
  return folder;
}

it('takes the versions of docker-compose.yml', async () => {
  const { services } = readCompose();
  expect(services['temporal']!.image).toBe(`temporalio/server:${serverVersion}`);
  expect(services['ui']!.image).toBe(`temporalio/ui:${uiVersion}`);
  const [server, ui] = [cached(`temporal-server-${serverVersion}`), cached(`temporal-ui-${uiVersion}`)];
  expect(await resolvePrograms(env)).toMatchObject({ temporal: server, postgres: env['ORDER_SAGA_POSTGRES'] });
  expect(await resolveUi(env)).toBe(ui);
});

it.each([
  ['1.29.1', (folder: string) => ['--root', folder, '--config', 'config', '--env', 'docker', 'start']],
  ['1.30.4', () => ['start']],
  ['2.0.0', () => ['start']],
])('starts a server %s as its image does it', async (version, args) => {
  const folder = cached(`temporal-server-${version}`);
  const programs = await resolvePrograms({ ...env, ORDER_SAGA_SERVER_VERSION: version });
  expect(programs).toMatchObject({ temporal: folder, serverArgs: args(folder) });
});

it('takes another Web UI where one is named', async () => {
  const folder = cached('temporal-ui-2.42.1');
  expect(await resolveUi({ ...env, ORDER_SAGA_UI_VERSION: '2.42.1' })).toBe(folder);
});

it('takes no other PostgreSQL than the one that is named', () => {
  const named = { ...env, ORDER_SAGA_POSTGRES: join(cache, 'nothing') };
  expect(postgresFolder(named)).toBeUndefined();
  expect(whyNoStack(named)).toMatch(/^there is no PostgreSQL/);
});

it('says what is missing for a version that was never built', async () => {
  const why = 'there is no Temporal server in the cache, and no Go on PATH to build one with';
  expect(whyNoStack({ ...env, ORDER_SAGA_SERVER_VERSION: '1.31.0' })).toBe(why);
  await expect(resolvePrograms({ ...env, ORDER_SAGA_SERVER_VERSION: '1.31.0' })).rejects.toThrow(why);
});
