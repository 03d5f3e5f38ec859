/**
 * Three stories of what never may break, with one judge: the provider's ledger. `npm run chaos -- --help` and the like
 * tell of their options.
 *
 * Status 0: every promise was kept, and what was to strike did. 1: not so. 2: wrong arguments.
 */
import { randomInt } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { NoTemporalError } from '../../../scripts/temporal-cli';
import { buildPrograms } from '../../support/programs';
import { certificates } from './disasters/certificate';
import { failover } from './disasters/failover';
import { fullDisks } from './disasters/full-disk';
import { noWorkers } from './disasters/no-workers';
import { rehearse, type Rehearsed } from './disasters/rehearsal';
import { restores } from './disasters/restore';
import type { Disaster } from './disasters/scene';
import { liveThroughNight } from './night';
import { printed, tooSeldom, type Told } from './report';
import { lies, type Lie } from './storm/lies';
import { planOf } from './storm/plan';
import { ChaosRun } from './storm/run';
import { Closers } from './world';

/** docs/disasters.md has a row for each. */
const disasters: readonly Disaster[] = [...restores, failover, noWorkers, ...fullDisks, ...certificates];
const closers = new Closers();

/** @throws where it is no whole number or too small */
const whole =
  (least = 1) =>
  (text: string) => {
    const value = Number(text);
    if (Number.isSafeInteger(value) && value >= least) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${least} on.`);
  };

const program = new Command('npm run').exitOverride();
let isGood = true;

program
  .command('chaos')
  .description(
    'a mix of all sagas under load, while provider calls fail in every way there is, workers are killed and replaced, ' +
      'the Temporal server and PostgreSQL are killed and come back, and people decide, cancel, reset, terminate and ' +
      'start again at random',
  )
  .option('--sagas <N>', 'how many', whole(), 150)
  .option('--seed <TEXT>', 'repeats the plan of an earlier run', String(randomInt(1_000_000)))
  .option('--at-once <N>', 'sagas in flight at most', whole(), 60)
  .option('--least <N>', 'times that each kind of fault must have struck', whole(0), 2)
  .option('--patience <N>', 'seconds without any saga’s end until the rest counts as forgotten', whole(), 120)
  .addOption(new Option('--lie <NAME>', 'what sagas stand on says what is not so (storm/lies.ts)').choices(lies))
  .option('--json <FILE>', 'the figures, and all that is known of sagas that broke a promise')
  .action(async ({ sagas, seed, atOnce, least, patience, lie, json }: ChaosArguments) => {
    const repeat = `npm run chaos -- --sagas ${sagas} --seed ${seed}${lie === undefined ? '' : ` --lie ${lie}`}`;
    console.log(`chaos: ${repeat}`);
    const run = new ChaosRun(planOf(seed, sagas), { lie, atOnce, patienceMs: patience * 1_000 }, closers);
    const { suspects, ...told } = await run.result();
    await keep(json, { ...verdict(told, least), seed, sagas, repeat, suspects });
    console.log(`${told.violations.length} violations. The same plan again: ${repeat}`);
  });

interface ChaosArguments {
  sagas: number;
  seed: string;
  atOnce: number;
  least: number;
  patience: number;
  lie?: Lie;
  json?: string;
}

program
  .command('drill')
  .description(
    'a bad night of the provider: sagas come at a steady rate; it takes some items without an answer, and then answers ' +
      'nothing; it comes back, and all sagas end by themselves, without a decision by anybody',
  )
  // Fewer cannot show all that has to be seen.
  .option('--sagas <N>', 'how many', whole(40), 1_000)
  .option('--rate <N>', 'how many come in one second', whole(), 2)
  .option('--patience <N>', 'seconds until what does not come about is given up', whole(), 600)
  .option('--json <FILE>', 'the figures')
  .action(async ({ sagas, rate, patience, json }: { sagas: number; rate: number; patience: number; json?: string }) => {
    const told = await liveThroughNight({ sagas, perSecond: rate, patienceMs: patience * 1_000 }, closers);
    await keep(json, { ...verdict(told, 1), sagas });
    console.log(`the night went ${isGood ? 'well' : 'wrong'}`);
  });

program
  .command('disasters')
  .description(
    `sagas are in the middle of their work; then databases are lost and restored, a cluster fails over, all workers ` +
      `are gone, a disk is full, a certificate expires. One person does what docs/disasters.md says\n\n${disasters
        .map(({ name, title }) => `${name.padEnd(22)} ${title}`)
        .join('\n')}`,
  )
  .argument('[names...]', 'these, or all')
  .option('--patience <N>', 'seconds until sagas that do not end are given up', whole(), 300)
  .option('--json <FILE>', 'what was seen, said and typed')
  .action(async (names: string[], { patience, json }: { patience: number; json?: string }) => {
    const unknown = names.find((name) => !disasters.some((one) => one.name === name));
    if (unknown !== undefined) program.error(`there is no disaster ${unknown}`);
    await rehearseAll(
      disasters.filter(({ name }) => names.length === 0 || names.includes(name)),
      patience * 1_000,
      json,
    );
  });

function verdict<T extends Told>(told: T, least: number) {
  const seldom = tooSeldom(told.sections, least);
  console.log(`\n${printed(told.sections)}\n`);
  for (const sentence of told.violations) console.log(`VIOLATION  ${sentence}`);
  for (const sentence of seldom) console.log(`TOO SELDOM  ${sentence}`);
  const good = told.violations.length === 0 && seldom.length === 0;
  isGood &&= good;
  return { good, ...told, seldom };
}

async function keep(file: string | undefined, judged: object): Promise<void> {
  if (file !== undefined) await writeFile(file, JSON.stringify(judged, null, 2));
}

async function rehearseAll(chosen: readonly Disaster[], patienceMs: number, json: string | undefined): Promise<void> {
  const rehearsed: (Rehearsed & { name: string; good: boolean })[] = [];
  const compiled = await buildPrograms();
  for (const disaster of chosen) {
    const { name, title } = disaster;
    const lacking = disaster.lacks?.();
    // CI has everything, so there it fails.
    if (lacking !== undefined && !process.env['CI']) {
      console.log(`\nleft out  ${name}: ${lacking}`);
      continue;
    }
    console.log(`\n${name}: ${title}`);
    const own = new Closers();
    closers.add(() => own.close());
    const told = await rehearse(disaster, { compiled, patienceMs, closers: own }).catch((error: unknown): Rehearsed => {
      const violations = [`it could not be rehearsed: ${String(error)}`];
      return { sections: [], violations, commands: [], sweep: undefined };
    });
    await own.close();
    rehearsed.push({ name, ...verdict(told, 1) });
  }
  const failed = rehearsed.filter(({ good }) => !good).map(({ name }) => name);
  const passed = rehearsed.length - failed.length;
  await keep(json, { passed, failed: failed.length, rehearsed });
  console.log(`\n${passed} passed, ${failed.length} failed ${failed.join(', ')}`);
}

/** Whatever ends the program, a mistake of ours too, leaves nothing running. */
async function main(): Promise<number> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => void closers.close().finally(() => process.exit(130)));
  process.once('uncaughtException', (error) => {
    console.error(error);
    void closers.close().finally(() => process.exit(1));
  });
  try {
    await program.parseAsync();
    return isGood ? 0 : 1;
  } catch (error) {
    // It has said so itself; help was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    console.error(error instanceof NoTemporalError ? error.message : error);
    return 1;
  } finally {
    await closers.close();
  }
}

void main().then((status) => process.exit(status));
