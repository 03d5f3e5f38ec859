/** docs/settings.md against src/config/: the same names, the same defaults. */
import { execFileSync } from 'node:child_process';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import * as config from '../../src/config';
import { readClientConfig, readWorkerConfig, SettingsError, type Environment } from '../../src/config';
import { codesIn, readDocument, sandboxSettings, tableUnder, workerHeadings } from './tables';

const document = readDocument('docs/settings.md');
const rowsUnder = (heading: string) => tableUnder(document, heading);
const namesIn = (rows: Record<string, string>[]) => rows.flatMap((row) => codesIn(row['name']!));

const ofTemporal = rowsUnder('Temporal');
const ofSagas = rowsUnder('Sagas');
const ofWorker = workerHeadings.flatMap(rowsUnder);

/** Temporal's own are read by its library, all but the one that is looked at first; a proxy's stand in capitals. */
const isOurs = (name: string) => !namesIn(ofTemporal).includes(name) && !name.endsWith('_proxy');

const base = { PROVIDER_BASE_URL: 'https://provider.example' };

/** The names that are asked for while settings are read. */
function namesAskedFor(read: (env: Environment) => unknown, given: Environment): string[] {
  const asked = new Set<string>();
  const env = new Proxy<Environment>(given, {
    get: (target, name) => {
      asked.add(String(name));
      return target[String(name)];
    },
  });
  try {
    read(env);
  } catch (error) {
    // Too little is given on purpose; all is asked for before that is said.
    if (!(error instanceof SettingsError)) throw error;
  }
  return [...asked].sort();
}

it('names what the worker asks for, and nothing else', () => {
  const asked = namesAskedFor(readWorkerConfig, base).filter(isOurs);
  expect(namesIn(ofWorker).sort()).toEqual(asked);
});

it('names what every program asks for, and nothing else', () => {
  const readers = Object.entries(config).flatMap(([name, value]) =>
    /^read\w+Config$/.test(name) ? [value as (env: Environment) => unknown] : [],
  );
  const asked = new Set(readers.flatMap((read) => namesAskedFor(read, {})));
  const named = namesIn([...ofWorker, ...rowsUnder('The codec server')]);
  expect([...new Set(named)].sort()).toEqual([...asked].filter(isOurs).sort());
});

it('names what the command line asks for', () => {
  const asked = namesAskedFor(readClientConfig, {}).filter(isOurs);
  expect(namesIn(ofSagas).sort()).toEqual(asked);
});

it('names what Temporal’s environment configuration knows, but for codecs and headers', () => {
  const library = readDocument('node_modules/@temporalio/envconfig/lib/envconfig-toml.js');
  const known = new Set([...library.matchAll(/TEMPORAL_[A-Z_]+/g)].map(([name]) => name));
  const untold = ['TEMPORAL_CODEC_ENDPOINT', 'TEMPORAL_CODEC_AUTH', 'TEMPORAL_GRPC_META_'];
  expect(namesIn(ofTemporal).sort()).toEqual([...known].filter((name) => !untold.includes(name)).sort());
  const { namespace } = loadClientConnectConfig({ overrideEnvVars: { TEMPORAL_NAMESPACE: 'n' }, disableFile: true });
  expect(namespace).toBe('n');
});

/** Functions are compared by what they are, not by which. */
const comparable = (config: unknown): unknown => JSON.parse(JSON.stringify(config));

const withDefault = ofWorker.filter((row) => !['none', 'required'].includes(row['default']!));

it.each(withDefault.map((row) => [namesIn([row])[0]!, row['default']!]))('the default of %s is %s', (name, value) => {
  expect(comparable(readWorkerConfig({ ...base, [name]: value }))).toEqual(comparable(readWorkerConfig(base)));
  // And the name is one that changes something: a value that cannot be is refused, or taken.
  const other = (): unknown => {
    try {
      return comparable(readWorkerConfig({ ...base, [name]: 'other' }));
    } catch (error) {
      if (error instanceof SettingsError) return error.problems.join();
      throw error;
    }
  };
  expect(other()).not.toEqual(comparable(readWorkerConfig(base)));
});

it('names what the sandbox asks for', () => {
  const source = readDocument('sandbox/main.ts');
  const schema = source.slice(source.indexOf('const environmentSchema'), source.indexOf('function optionsFrom'));
  const asked = [...schema.matchAll(/^ {2}(SANDBOX_[A-Z_]+):/gm)].map(([, name]) => name!);
  expect(asked.length).toBeGreaterThan(5);
  expect(sandboxSettings().sort()).toEqual(asked.sort());
});

it('is the page of every setting that another page names', () => {
  const all = execFileSync('git', ['ls-files', '*.md'], { encoding: 'utf8' }).trim().split('\n');
  // The letters to the operator name settings that are gone.
  const pages = all.filter((page) => page !== 'CHANGELOG.md');
  const named = pages.flatMap((page) =>
    [...readDocument(page).matchAll(/`([A-Z]+(?:_[A-Z]+)+)[=`]/g)].map(([, name]) => name!),
  );
  expect(named.length).toBeGreaterThan(20);
  // A value, an answer of Temporal's, what is of compose, of Node and of the tools beside the service.
  const others = [
    ...['AUTO_UPGRADE', 'FAILED_PRECONDITION', 'GRAFANA_PASSWORD', 'NODE_EXTRA_CA_CERTS', 'NUM_HISTORY_SHARDS'],
    ...['ORDER_SAGA_FUZZ_RUNS', 'OTEL_EXPORTER_OTLP_HEADERS', 'SECRET_WEB_ROOT_PASSWORD', 'TEMPORAL_CLI_PATH'],
  ];
  const known = [...namesIn([...ofTemporal, ...ofWorker, ...rowsUnder('The codec server')]), ...others];
  expect([...new Set(named)].filter((name) => !known.includes(name))).toEqual([]);
});
