/**
 * What a saga costs, measured: npm run bench. On a dev server of its own, or on the one that TEMPORAL_ADDRESS names.
 *
 *   --part NAME       throughput, journal, waiting; may stand several times        (throughput)
 *   --rounds N        that are counted                                             (5)
 *   --sagas N         in each round of each contestant, at least; with waiting, in all  (50)
 *   --at-once LIST    sagas in flight                                              (1,10,100)
 *   --store LIST      where the dev server keeps its data: memory, file            (memory,file)
 *   --rows N          effects in the larger journals, for journal                     (10000000)
 *   --json FILE       every figure of every round
 *   --write           the tables into docs/performance.md
 *
 *   --quick           instead of all that, only what is the same on every machine, against bench/counts.json
 *   --accept          with --quick: today's counts are right from now on
 *
 * Status 0: measured; with --quick: nothing moved, and every target is met. 1: not so. 2: wrong arguments.
 */
import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { NoTemporalError } from '../scripts/temporal-cli';
import { buildWorkers, type Built } from './built';
import { checkCounts } from './counts';
import { writeReport } from './markdown';
import { journalReport, measureJournal } from './journal';
import { load } from './process-figures';
import { Stand, type Store } from './stand';
import { measureThroughput, throughputReport } from './throughput';
import { measureWaiting, waitingReport } from './waiting';

const say = (line: string) => console.log(line);

async function main(): Promise<number> {
  const options = readArguments();
  if (options === undefined) return 2;
  const built = await buildWorkers();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      void Promise.allSettled([Stand.closeAll(), built.remove()]).then(() => process.exit(130));
    });
  }
  try {
    return options.quick ? await quick(built, options.accept) : await measure(built, options);
  } finally {
    await built.remove();
  }
}

async function measure(built: Built, options: Options): Promise<number> {
  const { parts, rounds, sagas, atOnce, stores, rows, write, json } = options;
  say(`${cpus().length} cores, Node ${process.versions.node}, load ${load().toFixed(1)}`);
  const measured: Record<string, unknown> = {};
  const report = async (name: string, figures: unknown, text: string) => {
    measured[name] = figures;
    say(`\n${text}\n`);
    if (write) await writeReport(name, text);
    if (json !== undefined) await writeFile(json, JSON.stringify(measured, null, 2));
  };
  for (const part of parts) {
    if (part === 'throughput') {
      const figures = await measureThroughput({ built, rounds, sagas, atOnce, stores, say });
      await report(part, figures, throughputReport(figures));
    }
    if (part === 'journal') {
      const figures = await measureJournal({ rows, times: 10 * sagas, say });
      await report(part, figures, journalReport(figures));
    }
    if (part === 'waiting') {
      const figures = await measureWaiting(built, sagas, say);
      await report(part, figures, waitingReport(figures));
    }
  }
  return 0;
}

async function quick(built: Built, accept: boolean): Promise<number> {
  const moved = await checkCounts({ built, accept, say });
  if (moved.length === 0) {
    say('\nnothing moved');
    return 0;
  }
  for (const sentence of moved) console.error(sentence);
  console.error('\nIf that is how it is to be: npm run bench -- --quick --accept, and say in the commit what it buys.');
  return 1;
}

const partNames = ['throughput', 'journal', 'waiting'] as const;
type Part = (typeof partNames)[number];

type Options = NonNullable<ReturnType<typeof readArguments>>;

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        part: { type: 'string', multiple: true, default: ['throughput'] },
        rounds: { type: 'string', default: '5' },
        sagas: { type: 'string', default: '50' },
        'at-once': { type: 'string', default: '1,10,100' },
        store: { type: 'string', default: 'memory,file' },
        rows: { type: 'string', default: '10000000' },
        json: { type: 'string' },
        write: { type: 'boolean', default: false },
        quick: { type: 'boolean', default: false },
        accept: { type: 'boolean', default: false },
      },
    });
    return {
      parts: values.part.map((part) => oneOf<Part>('part', part, partNames)),
      rounds: whole('rounds', values.rounds),
      sagas: whole('sagas', values.sagas),
      atOnce: values['at-once'].split(',').map((number) => whole('at-once', number)),
      stores: values.store.split(',').map((store) => oneOf<Store>('store', store, ['memory', 'file'])),
      rows: whole('rows', values.rows),
      json: values.json,
      write: values.write,
      quick: values.quick,
      accept: values.accept,
    };
  } catch (error) {
    console.error(`${(error as Error).message}\nWhat there is stands at the top of bench/main.ts.`);
    return undefined;
  }
}

function whole(option: string, value: string): number {
  if (/^[1-9]\d*$/.test(value)) return Number(value);
  throw new Error(`--${option}: ${value} is not a whole number above 0`);
}

function oneOf<T extends string>(option: string, value: string, known: readonly T[]): T {
  const found = known.find((name) => name === value);
  if (found === undefined) throw new Error(`--${option}: ${value} is none of ${known.join(', ')}`);
  return found;
}

main().then(
  (status) => {
    process.exitCode = status;
  },
  (error: unknown) => {
    console.error(error instanceof NoTemporalError ? error.message : error);
    process.exitCode = 1;
  },
);
