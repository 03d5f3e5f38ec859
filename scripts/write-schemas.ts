/**
 * JSON Schemas of everything that others send or read, made from the one zod source into `schemas/`; and what is printed
 * in docs: whole pages, the list of docs/failures.md, defaults and bounds in docs/settings.md.
 *
 *   npm run schemas            writes them
 *   npm run schemas -- --check fails when they do not fit the source
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';
import { z } from 'zod';
import { answers, type Answer } from '../src/domain/answers';
import { decisionNames, decisionSchemas, exampleFor } from '../src/domain/decisions';
import { metrics } from '../src/domain/metrics';
import { messageSchema } from '../src/domain/notifications';
import { profileSchema } from '../src/domain/profile';
import { progressSchema } from '../src/domain/progress';
import { reconcileSchema, sweepReportSchema } from '../src/domain/reconcile';
import { recordSchema } from '../src/domain/record';
import { requestSchemas } from '../src/domain/requests';
import { reportSchema, resultSchemas } from '../src/domain/results';
import { ExpectedError, runProgram } from './program';
import { describe, requestsPage, requestWords } from './request-words';
import { statusesPage, withFailures } from './failures-table';
import { clientPage } from './client-page';
import { withSettings } from './settings-page';

const root = join(__dirname, '..');

const sources: Record<string, z.ZodType> = {
  ...Object.fromEntries(Object.entries(requestSchemas()).map(([name, schema]) => [`${name}.request`, schema()])),
  ...Object.fromEntries(Object.entries(resultSchemas).map(([name, schema]) => [`${name}.result`, schema])),
  ...Object.fromEntries(Object.entries(decisionSchemas).map(([name, schema]) => [`${name}.decision`, schema()])),
  'reconcile.request': reconcileSchema(),
  'reconcile.report': sweepReportSchema(),
  progress: progressSchema,
  report: reportSchema,
  profile: profileSchema(),
  record: recordSchema,
  notification: messageSchema(),
};

/** The text of each file. Requests and decisions are described as they are sent, the rest as it is read. */
async function makeSchemas(): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const [name, schema] of Object.entries(sources)) {
    const json = { title: name, ...jsonOf(schema, name) };
    files.set(`schemas/${name}.json`, await format(JSON.stringify(json), { parser: 'json', printWidth: 120 }));
  }
  const pages = {
    'docs/failures.md': withFailures(read('docs/failures.md') ?? ''),
    'docs/statuses.md': statusesPage(),
    'docs/settings.md': withSettings(read('docs/settings.md') ?? ''),
    'docs/answers.md': answersPage(),
    'docs/client.md': clientPage(),
    'docs/metrics.md': metricsPage(read('docs/metrics.md') ?? ''),
    'docs/requests.md': requestsPage((workflow) => jsonOf(requestSchemas()[workflow]())),
  };
  for (const [name, page] of Object.entries(pages))
    files.set(name, await format(page, { parser: 'markdown', printWidth: 120 }));
  return files;
}

function jsonOf(schema: z.ZodType, name = ''): ReturnType<typeof describe> {
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as ReturnType<typeof describe>;
  const words = Object.entries(requestWords).find(([workflow]) => name === `${workflow}.request`);
  return words ? describe(json, words[1]) : json;
}

function answersPage(): string {
  const offered = Object.entries(answers).flatMap(([kind, choices]) => [
    `\n## ${kind}\n`,
    ...Object.entries<Answer>(choices).map(([name, { does, where, of = {} }]) => {
      const others = Object.entries(of).map(([workflow, said]) => ` Of \`${workflow}\`: ${said}.`);
      return `- \`${name}\`${where === undefined ? '' : ` (${where})`}: ${does}.${others.join('')}`;
    }),
  ]);
  return [
    '# What a person may answer',
    '\nPrinted by `npm run schemas` from `src/domain/answers.ts`. [Operating](operating.md) says how to send one; `schemas/<name>.decision.json` has every field. A person may also request cancellation, except of what is undone or is ending.',
    '\nIf the run has no room to wait on, what can be left out is left out, as by `skip`; anything else fails as `HistoryFull`, and undoes ([when](internals/decisions.md#a-history-is-never-full)).',
    ...offered,
    '\n## The data\n',
    ...decisionNames.map((name) => `- \`${name}\`: \`${exampleFor(name, { id: '…' })}\``),
  ].join('\n');
}

/** @param before has the labels of each, by the name that Prometheus shows; a test holds them to a worker's */
function metricsPage(before: string): string {
  const shown = [...before.matchAll(/^- `(\w+)`( \(.*?\))?:/gm)];
  const lines = Object.values(metrics).map(({ name, help }) => {
    const one = shown.find(([, found]) => found === name || found === `${name}_total`);
    if (one === undefined) throw new ExpectedError(`docs/metrics.md does not have ${name}, with its labels`);
    return `${one[0]} ${help}.`;
  });
  const page =
    '# What each metric counts\n\nPrinted by `npm run schemas` from `src/domain/metrics.ts`; the labels beside each name are held by a test, and all have `namespace` and `taskQueue`, too. [Observing](observing.md) says how to read them.\n';
  return [page, ...lines].join('\n');
}

async function main(): Promise<void> {
  const files = await makeSchemas();
  if (process.argv.includes('--check')) {
    const stale = [...files].filter(([name, text]) => read(name) !== text).map(([name]) => name);
    if (stale.length === 0) return;
    throw new ExpectedError(`files that do not fit the source (run \`npm run schemas\`): ${stale.join(', ')}`);
  }
  mkdirSync(join(root, 'schemas'), { recursive: true });
  for (const [name, text] of files) writeFileSync(join(root, name), text);
}

function read(path: string): string | undefined {
  try {
    return readFileSync(join(root, path), 'utf8');
  } catch {
    return undefined;
  }
}

runProgram(module, main);
