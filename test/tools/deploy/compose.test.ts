/** docker-compose.yml against what it speaks of; deploy/check.sh checks its form. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { composeService, readCompose } from '../../../deploy/compose';
import { parse } from 'yaml';
import { readWorkerConfig } from '../../../src/config';
import { knownSettings } from '../../docs/tables';
import { readDocument } from '../../support/project';

const { services } = readCompose();
const text = readDocument('docker-compose.yml');
const example = readDocument('.env.example');

/** NAME=value, one to a line. */
const variablesIn = (file: string): Record<string, string> =>
  Object.fromEntries([...file.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [name!, value!]));

const makeEnv = () =>
  execFileSync('sh', [join(__dirname, '..', '..', '..', 'deploy', 'make-env.sh')], { encoding: 'utf8' });

/** Service and image of all that is not ours. */
const foreign = Object.entries(services)
  .filter(([, { image }]) => !image.startsWith('order-saga'))
  .map(([name, { image }]) => [name, image] as const);

it('has pinned images, and tools of the same version as the server', () => {
  for (const { image } of Object.values(services))
    expect(image).toMatch(/:v?\d+\.\d+[\w.-]*$|^order-saga(-sandbox)?:\$\{/);
  const [, version] = services['temporal']!.image.split(':');
  for (const name of ['temporal-databases', 'temporal-namespace'])
    expect(services[name]!.image).toBe(`temporalio/admin-tools:${version}`);
});

it('lets no log and no process grow until the machine is full', () => {
  for (const [name, { logging, mem_limit: limit }] of Object.entries(services))
    expect({ name, logging, limit }).toEqual({
      name,
      logging: { driver: 'local' },
      limit: expect.stringMatching(/^\d+[mg]$/),
    });
});

it('has the same images by digest beside it, but for those whose digest is not known', () => {
  const byDigest = parse(readDocument('deploy/digests.yaml')) as { services: Record<string, { image: string }> };
  const tags = Object.entries(byDigest.services).map(([name, { image }]) => {
    expect(image).toMatch(/@sha256:[\da-f]{64}$/);
    return [name, image.split('@')[0]];
  });
  expect(tags).toEqual(foreign.filter(([, image]) => !/temporalio\/(server|admin-tools):|alertmanager:/.test(image)));
});

it('holds no secret: each comes from .env, which a script fills with fresh ones', () => {
  const secrets = ['POSTGRES_PASSWORD', 'JOURNAL_PASSWORD', 'GRAFANA_PASSWORD', 'PAYLOAD_KEYS', 'CODEC_TOKEN'];
  const [one, other, empty] = [variablesIn(makeEnv()), variablesIn(makeEnv()), variablesIn(example)];
  for (const name of secrets) {
    expect(text).toContain(`\${${name}:?`);
    expect(empty[name]).toBe('');
    expect(one[name]).not.toBe('');
    expect(one[name]).not.toBe(other[name]);
  }
  // A value that looks like one and is written out.
  expect(text).not.toMatch(/(PASSWORD|PWD|TOKEN|KEYS): (?!\$\{)/);
  expect(text).not.toMatch(/:\/\/[^\s/@]+:(?!\$\{)[^\s/@]*@/);
});

it('comes with secrets that only their owner can read', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'make-env-')), '.env');
  execFileSync('sh', ['-c', `umask 022; sh deploy/make-env.sh > ${file}`]);
  expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
});

const ours = ['worker', 'journal-schema', 'codec-server', 'sandbox'];
it.each(ours)('gives the %s settings that it knows, and no more rights than it needs', (name) => {
  const known = knownSettings();
  expect(Object.keys(services[name]!.environment).filter((setting) => !known.has(setting))).toEqual([]);
  const rights = { init: true, read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges'] };
  expect(services[name]).toMatchObject(rights);
});

it('gives the journal a role and a database of its own, and the worker no other', () => {
  const variables = variablesIn(makeEnv());
  const environmentOf = (name: string) => composeService(name, variables).environment;
  const { JOURNAL_URL } = environmentOf('worker');
  expect(environmentOf('journal-schema')).toEqual({ JOURNAL_URL });
  const { username, password, host, pathname } = new URL(JOURNAL_URL!);
  expect([username, host, pathname]).toEqual(['journal', 'postgres:5432', '/journal']);
  const made = environmentOf('journal-database');
  expect(made).toMatchObject({ JOURNAL_PASSWORD: password, PGHOST: 'postgres', PGPORT: '5432' });
  const { POSTGRES_USER, POSTGRES_PASSWORD } = environmentOf('postgres');
  expect([made['PGUSER'], made['PGPASSWORD']]).toEqual([POSTGRES_USER, POSTGRES_PASSWORD]);
  expect(JSON.stringify(environmentOf('worker'))).not.toContain(POSTGRES_PASSWORD);
  // The same programs as the server’s, which it is to speak to.
  expect(services['journal-database']!.image).toBe(services['postgres']!.image);
});

it('gives the worker longer to stop than it takes', () => {
  const { stop_grace_period: grace } = services['worker']!;
  const { shutdownGraceMs } = readWorkerConfig({ PROVIDER_BASE_URL: 'https://provider.example' });
  expect(grace).toMatch(/^\d+s$/);
  // Ten seconds after the grace, the worker itself ends what never ends.
  expect(Number.parseInt(grace!, 10) * 1000).toBeGreaterThan(shutdownGraceMs + 10_000);
});
