/**
 * docker-compose.yml against what it speaks of. Its form is checked by the specification's own loader
 * (deploy/check.sh).
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { composeService, readCompose } from '../../../deploy/compose';
import { parse } from 'yaml';
import { readWorkerConfig } from '../../../src/config';
import { readDocument } from '../../docs/tables';
import { knownSettings } from './settings';

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

it('has the same images by digest beside it, but for those whose digest is not known', () => {
  const byDigest = parse(readDocument('deploy/digests.yaml')) as { services: Record<string, { image: string }> };
  const tags = Object.entries(byDigest.services).map(([name, { image }]) => {
    expect(image).toMatch(/@sha256:[\da-f]{64}$/);
    return [name, image.split('@')[0]];
  });
  expect(tags).toEqual(foreign.filter(([, image]) => !/temporalio\/(server|admin-tools):/.test(image)));
});

it('asks for what .env.example has, and for nothing else', () => {
  const asked = [...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name!);
  // The version of our own image is the caller's to say.
  expect([...new Set(asked)].filter((name) => name !== 'ORDER_SAGA_VERSION').sort()).toEqual(
    Object.keys(variablesIn(example)).sort(),
  );
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

it('does not start without them, and says which is missing', () => {
  expect(() => composeService('worker', {})).toThrow('JOURNAL_PASSWORD is missing from .env');
  expect(() => composeService('worker', { JOURNAL_PASSWORD: 'x' })).toThrow('PAYLOAD_KEYS is missing from .env');
});

const ours = ['worker', 'journal-schema', 'codec-server', 'sandbox'];

it.each(ours)('gives the %s settings that it knows', (name) => {
  const known = knownSettings();
  expect(Object.keys(services[name]!.environment).filter((setting) => !known.has(setting))).toEqual([]);
});

it.each(ours)('gives the %s no more than it needs', (name) => {
  expect(services[name]).toMatchObject({
    ...{ init: true, read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges'] },
  });
});

it('waits for a service’s health only where there is a check of it', () => {
  for (const { depends_on: needs = {} } of Object.values(services)) {
    for (const [name, { condition }] of Object.entries(needs)) {
      expect(services[name]).toBeDefined();
      if (condition === 'service_healthy') expect(services[name]).toHaveProperty('healthcheck');
      // What is done once must end, and is not started again when it has.
      if (condition === 'service_completed_successfully') expect(services[name]!.restart).toMatch('on-failure');
    }
  }
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

it('starts the worker when the journal’s tables are of its release', () => {
  const done = { condition: 'service_completed_successfully' };
  expect(services['worker']!.depends_on).toMatchObject({ 'journal-schema': done });
  expect(services['journal-schema']!.depends_on).toEqual({ 'journal-database': done });
  expect(services['journal-schema']!.command).toEqual(['dist/starter.js', 'journal', 'migrate']);
  expect(services['journal-schema']!.image).toBe(services['worker']!.image);
});

it('publishes ports on this machine’s own address only', () => {
  const published = Object.values(services).flatMap(({ ports = [] }) => ports);
  expect(published.length).toBeGreaterThan(3);
  for (const port of published) expect(port).toMatch(/^127\.0\.0\.1:/);
});

it('gives the worker longer to stop than it takes', () => {
  const { stop_grace_period: grace } = services['worker']!;
  const { shutdownGraceMs } = readWorkerConfig({ PROVIDER_BASE_URL: 'https://provider.example' });
  expect(grace).toMatch(/^\d+s$/);
  // Ten seconds after the grace, the worker itself ends what never ends.
  expect(Number.parseInt(grace!, 10) * 1000).toBeGreaterThan(shutdownGraceMs + 10_000);
});
