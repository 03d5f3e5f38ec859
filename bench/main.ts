/**
 * What a saga costs, measured: npm run bench. On a dev server of its own, or on the one that TEMPORAL_ADDRESS names.
 *
 *   --part NAME       throughput, or waiting                                        (throughput)
 *   --rounds N        that are counted                                              (5)
 *   --sagas N         in each round of each contestant, at least; with waiting, in all  (50)
 *   --at-once LIST    sagas in flight                                               (1,10,100)
 *   --write           the tables into docs/performance.md
 *
 *   --quick           instead of all that, only what is the same on every machine, against bench/counts.json
 *   --accept          with --quick: today's counts are right from now on
 *
 * Status 0: measured; with --quick: nothing moved, and every target is met. 1: not so. 2: wrong arguments.
 */
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { runProgram } from '../scripts/program';
import { buildWorkers, type Built } from './built';
import { checkCounts } from './counts';
import { writeReport } from './markdown';
import { load } from './process-figures';
import { Stand } from './stand';
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

async function measure(built: Built, { part, rounds, sagas, atOnce, write }: Options): Promise<number> {
  say(`${cpus().length} cores, Node ${process.versions.node}, load ${load().toFixed(1)}`);
  const report =
    part === 'waiting'
      ? waitingReport(await measureWaiting(built, sagas, say))
      : throughputReport(await measureThroughput(built, { rounds, sagas, atOnce, say }));
  say(`\n${report}\n`);
  if (write) await writeReport(part, report);
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

type Options = NonNullable<ReturnType<typeof readArguments>>;

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        part: { type: 'string', default: 'throughput' },
        rounds: { type: 'string', default: '5' },
        sagas: { type: 'string', default: '50' },
        'at-once': { type: 'string', default: '1,10,100' },
        write: { type: 'boolean', default: false },
        quick: { type: 'boolean', default: false },
        accept: { type: 'boolean', default: false },
      },
    });
    if (!['throughput', 'waiting'].includes(values.part)) throw new Error(`--part: there is no ${values.part}`);
    return {
      ...values,
      rounds: whole('rounds', values.rounds),
      sagas: whole('sagas', values.sagas),
      atOnce: values['at-once'].split(',').map((number) => whole('at-once', number)),
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

runProgram(module, main);
