/** docs/settings.md has the settings that programs ask for; a number is refused beyond the bounds that it prints. */
import { execFileSync } from 'node:child_process';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import type { z } from 'zod';
import * as config from '../../src/config';
import { codecServerSettings } from '../../src/config/codec-server';
import { journalSettings } from '../../src/config/journal';
import { variablesOf } from '../../src/config/settings';
import { workerSettings } from '../../src/config/worker';
import { boundsOf } from '../../scripts/settings-page';
import { sandboxSettings, settingsUnder } from './tables';
import { readDocument } from '../support/project';

const ofTemporal = settingsUnder('Temporal');
const ours = settingsUnder().filter((name) => !ofTemporal.includes(name));

/** The names that are asked for while settings are read, but Temporal's own and a proxy's in small letters. */
function namesAskedFor(read: (env: config.Environment) => unknown): string[] {
  const asked = new Set<string>();
  const env = new Proxy<config.Environment>({}, { get: (_, name) => void asked.add(String(name)) });
  try {
    read(env);
  } catch (error) {
    // Too little is given on purpose; all is asked for before that is said.
    if (!(error instanceof config.SettingsError)) throw error;
  }
  return [...asked].filter((name) => !ofTemporal.includes(name) && !name.endsWith('_proxy'));
}

it('names what every program asks for, and nothing else', () => {
  const asked = Object.entries(config).flatMap(([name, value]) =>
    /^read\w+Config$/.test(name) ? namesAskedFor(value as (env: config.Environment) => unknown) : [],
  );
  expect([...ours].sort()).toEqual([...new Set(asked)].sort());
});

it('names what the command line asks for', () => {
  expect(settingsUnder('Sagas').sort()).toEqual(namesAskedFor(config.readClientConfig).sort());
});

it('names what Temporal’s environment configuration knows, but for codecs and headers', () => {
  const library = readDocument('node_modules/@temporalio/envconfig/lib/envconfig-toml.js');
  const known = new Set([...library.matchAll(/TEMPORAL_[A-Z_]+/g)].map(([name]) => name));
  const untold = ['TEMPORAL_CODEC_ENDPOINT', 'TEMPORAL_CODEC_AUTH', 'TEMPORAL_GRPC_META_'];
  expect([...ofTemporal].sort()).toEqual([...known].filter((name) => !untold.includes(name)).sort());
  const { namespace } = loadClientConnectConfig({ overrideEnvVars: { TEMPORAL_NAMESPACE: 'n' }, disableFile: true });
  expect(namespace).toBe('n');
  // It reads this one, and does nothing.
  const overrideEnvVars = { TEMPORAL_TLS: 'true', TEMPORAL_TLS_DISABLE_HOST_VERIFICATION: 'true' };
  const { connectionOptions } = loadClientConnectConfig({ overrideEnvVars, disableFile: true });
  expect(connectionOptions).toEqual({ tls: {} });
});

it('names what the sandbox asks for', () => {
  const source = readDocument('sandbox/main.ts');
  const schema = source.slice(source.indexOf('const environmentSchema'), source.indexOf('function optionsFrom'));
  const asked = [...schema.matchAll(/^ {2}(SANDBOX_[A-Z_]+):/gm)].map(([, name]) => name!);
  expect(asked.length).toBeGreaterThan(3);
  expect(sandboxSettings().sort()).toEqual(asked.sort());
});

it('is the page of every setting that another page names', () => {
  const pages = execFileSync('git', ['ls-files', '*.md'], { encoding: 'utf8' }).trim().split('\n');
  const named = pages.flatMap((page) =>
    [...readDocument(page).matchAll(/`([A-Z]+(?:_[A-Z]+)+)[=`]/g)].map(([, name]) => name!),
  );
  expect(named.length).toBeGreaterThan(20);
  // A value, an answer of Temporal's, what is of compose, of Node and of the tools beside the service.
  const others = [
    ...[
      'ALERT_URL',
      'AUTO_UPGRADE',
      'FAILED_PRECONDITION',
      'GRAFANA_PASSWORD',
      'NODE_EXTRA_CA_CERTS',
      'NUM_HISTORY_SHARDS',
      'ORDER_SAGA_VERSION',
    ],
    ...['ORDER_SAGA_FUZZ_RUNS', 'OTEL_EXPORTER_OTLP_HEADERS', 'SECRET_WEB_ROOT_PASSWORD', 'TEMPORAL_CLI_PATH'],
  ];
  const known = [...ours, ...ofTemporal, ...others];
  expect([...new Set(named)].filter((name) => !known.includes(name))).toEqual([]);
});

describe('a number', () => {
  const programs = [workerSettings, journalSettings, codecServerSettings];
  const all: Record<string, z.ZodType> = Object.assign({}, ...programs.map(variablesOf));

  /** Texts of which a setting may make numbers, of every form that there is. */
  const forms = ['1', '5', '0.5', '1000', '100000', '1,1,1,1', '429', '0.0.0.0:80'];

  function hasNumber(value: unknown): boolean {
    if (typeof value === 'number') return true;
    return typeof value === 'object' && value !== null && Object.values(value).some(hasNumber);
  }

  const numeric = Object.entries(all).flatMap(([name, schema]) => {
    const makesNumber = (form?: string) => {
      const parsed = schema.safeParse(form);
      return parsed.success && hasNumber(parsed.data);
    };
    const sample = forms.find(makesNumber);
    return sample === undefined && !makesNumber() ? [] : [[name, schema, sample] as const];
  });

  /** The sample with another number in one of its places; an address has its number behind the colon. */
  function withNumber(sample: string, place: number, value: number): string {
    if (sample.includes(':')) return `${sample.slice(0, sample.lastIndexOf(':'))}:${value}`;
    return sample
      .split(',')
      .map((part, index) => (index === place ? String(value) : part))
      .join(',');
  }

  it('is looked for in every setting that is no text, no file, and not what the system says', () => {
    const beside = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY', 'XDG_STATE_HOME'];
    const isText = (name: string) => name in all || name.replace(/_FILE$/, '') in all || beside.includes(name);
    expect(ours.filter((name) => !isText(name))).toEqual([]);
    expect(numeric.length).toBeGreaterThan(8);
  });

  it.each(numeric)(
    'of %s has a least and a most, and what is beyond is refused in one sentence',
    (_, schema, sample) => {
      expect(sample).toBeDefined();
      const bounds = [...boundsOf(schema).matchAll(/([\d.]+) to (\d+)/g)].map(
        ([, min, max]) => [+min!, +max!] as const,
      );
      expect(bounds).toHaveLength(sample!.split(',').length);
      bounds.forEach(([min, max], place) => {
        const tried = (value: number) => schema.safeParse(withNumber(sample!, place, value));
        for (const value of [min, max]) expect([value, tried(value).error?.issues]).toEqual([value, undefined]);
        for (const value of [min === 0 ? -1 : min - (Number.isInteger(min) ? 1 : min / 2), max + 1, max * 1e9]) {
          expect([value, tried(value).error?.issues.map(({ message }) => message)]).toEqual([
            value,
            [expect.stringMatching(/^must be /)],
          ]);
        }
      });
    },
  );
});
