/**
 * Every setting that is a number, or has one in it, has a least and a most. They stand in docs/settings.md, and what is
 * beyond them is refused. A new setting is found by what it makes of a number: without bounds in its row, it fails
 * here.
 */
import type { z } from 'zod';
import { codecServerSettings } from '../../src/config/codec-server';
import { journalSettings } from '../../src/config/journal';
import { variablesOf } from '../../src/config/settings';
import { workerSettings } from '../../src/config/worker';
import { codesIn, readDocument, tableUnder, workerHeadings } from './tables';

const programs = [workerSettings, journalSettings, codecServerSettings];
const all: Record<string, z.ZodType> = Object.assign({}, ...programs.map(variablesOf));

const document = readDocument('docs/settings.md');
const rows = [...workerHeadings, 'The codec server'].flatMap((heading) => tableUnder(document, heading));
const rowOf = (name: string) => rows.find((row) => codesIn(row['name']!)[0] === name);

/** Texts of which a setting may make numbers, of every form that there is. */
const forms = ['1', '5', '0.5', '1000', '100000', '1,1,1,1', '429', '0.0.0.0:80'];

function hasNumber(value: unknown): boolean {
  if (typeof value === 'number') return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(hasNumber);
}

function sampleOf(schema: z.ZodType): string | undefined {
  return forms.find((form) => {
    const parsed = schema.safeParse(form);
    return parsed.success && hasNumber(parsed.data);
  });
}

const numeric = Object.entries(all).flatMap(([name, schema]) => {
  const sample = sampleOf(schema);
  const byDefault = schema.safeParse(undefined);
  if (sample === undefined && !(byDefault.success && hasNumber(byDefault.data))) return [];
  return [[name, schema, sample] as const];
});

type Pair = [min: number, max: number];

function pairsIn(text: string): Pair[] {
  return [...text.matchAll(/(\d+(?:\.\d+)?) to (\d+)/g)].map(([, min, max]) => [Number(min), Number(max)]);
}

/** Of a budget, the first stands in its row, the others are the same for all and stand before the table. */
function boundsOf(name: string, sample: string): Pair[] {
  const own = pairsIn(rowOf(name)!['meaning']!);
  if (sample.split(',').length === 1) return own;
  const ofBudgets = /^- `(backoffMs|backoffMaxMs|totalMs)`: (.*)$/gm;
  return [...own, ...[...document.matchAll(ofBudgets)].flatMap(([, , text]) => pairsIn(text!))];
}

/** The sample with another number in one of its places; an address has its number behind the colon. */
function withNumber(sample: string, place: number, value: number): string {
  if (sample.includes(':')) return `${sample.slice(0, sample.lastIndexOf(':'))}:${value}`;
  return sample
    .split(',')
    .map((part, index) => (index === place ? String(value) : part))
    .join(',');
}

it('knows of every setting that the documents know', () => {
  // Read beside the tables: texts that a file may hold, files, and what the system says.
  const beside = [
    ...['PAYLOAD_KEYS', 'JOURNAL_URL', 'PROVIDER_TOKEN', 'CODEC_TOKEN', 'NOTIFICATION_ROUTES'].flatMap((name) => [
      name,
      `${name}_FILE`,
    ]),
    ...['PROVIDER_CA_FILE', 'CODEC_TLS_CERT_FILE', 'CODEC_TLS_KEY_FILE'],
    ...['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY', 'XDG_STATE_HOME'],
  ];
  const named = rows.flatMap((row) => codesIn(row['name']!));
  expect(named.filter((name) => !(name in all) && !beside.includes(name))).toEqual([]);
  expect(numeric.length).toBeGreaterThan(12);
});

it.each(numeric)('%s has a least and a most, and what is beyond is refused in one sentence', (name, schema, sample) => {
  expect(sample).toBeDefined();
  const bounds = boundsOf(name, sample!);
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
});
