/** Measures what a saga costs: `npm run bench -- --help`. */
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { ExpectedError, runProgram } from '../scripts/program';
import { buildWorkers, type Built } from './built';
import { checkCounts } from './counts';
import { growthReport, measureGrowth } from './growth';
import { writeReport } from './markdown';
import { load } from './process-figures';
import { closeAllStands } from './stand';
import { measureThroughput, throughputReport } from './throughput';
import { measureWaiting, waitingReport } from './waiting';

const help = `npm run bench, on a dev server of its own, or on the one that TEMPORAL_ADDRESS names

  --part NAME       throughput, waiting, or growth (on a server and a journal in PostgreSQL)  (throughput)
  --rounds N        that are counted                                              (5)
  --sagas N         in each round of each contestant, at least; with waiting, in all  (50)
  --at-once LIST    sagas in flight                                               (1,10,100)
  --write           the tables into docs/internals/performance.md

  --quick           instead of all that, only what is the same on every machine, against bench/counts.json
  --accept          with --quick: today's counts are right from now on

Status 0: measured; with --quick: nothing moved, and every target is met. 1: not so, or wrong arguments.`;

async function main(): Promise<void> {
  const options = readArguments();
  if (options.help) return console.log(help);
  const built = await buildWorkers();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      void Promise.allSettled([closeAllStands(), built.remove()]).then(() => process.exit(130));
    });
  }
  try {
    await (options.quick ? quick(built, options.accept) : measure(built, options));
  } finally {
    await built.remove();
  }
}

async function measure(built: Built, { part, rounds, sagas, atOnce, write }: Options): Promise<void> {
  console.log(`${cpus().length} cores, Node ${process.versions.node}, load ${load().toFixed(1)}`);
  const report = await {
    throughput: async () => throughputReport(await measureThroughput(built, { rounds, sagas, atOnce })),
    waiting: async () => waitingReport(await measureWaiting(built, sagas)),
    growth: async () => growthReport(await measureGrowth(built, sagas)),
  }[part]();
  console.log(`\n${report}\n`);
  if (write) await writeReport(part, report);
}

async function quick(built: Built, accept: boolean): Promise<void> {
  const moved = await checkCounts(built, accept);
  if (moved.length > 0) {
    const accepting =
      '\nIf that is how it is to be: npm run bench -- --quick --accept, and say in the commit what it buys.';
    throw new ExpectedError([...moved, accepting].join('\n'));
  }
  console.log('\nnothing moved');
}

type Options = ReturnType<typeof readArguments>;

/** @throws ExpectedError */
function readArguments() {
  const { values } = parseArgs({
    options: {
      part: { type: 'string', default: 'throughput' },
      rounds: { type: 'string', default: '5' },
      sagas: { type: 'string', default: '50' },
      'at-once': { type: 'string', default: '1,10,100' },
      write: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      accept: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const part = (['throughput', 'waiting', 'growth'] as const).find((name) => name === values.part);
  if (part === undefined) throw new ExpectedError(`--part: there is no ${values.part}`);
  return {
    ...values,
    part,
    rounds: whole('rounds', values.rounds),
    sagas: whole('sagas', values.sagas),
    atOnce: values['at-once'].split(',').map((number) => whole('at-once', number)),
  };
}

function whole(option: string, value: string): number {
  if (/^[1-9]\d*$/.test(value)) return Number(value);
  throw new ExpectedError(`--${option}: ${value} is not a whole number above 0`);
}

runProgram(module, main);
