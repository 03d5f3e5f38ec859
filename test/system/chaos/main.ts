/**
 * Three stories of what never may break, with one judge: the provider's ledger.
 *
 *   npm run chaos -- --sagas 2000 --seed 7    a mix of all sagas under load, while provider calls fail in every way there
 *                                             is, workers are killed and replaced, the Temporal server and PostgreSQL are
 *                                             killed and come back, and people decide, cancel, reset, terminate and start
 *                                             again at random
 *     --sagas N     how many                                              (150)
 *     --seed TEXT   repeats the plan of an earlier run                    (a new one)
 *     --at-once N   sagas in flight at most                               (60)
 *     --workers N   worker processes                                      (2)
 *     --least N     times that each kind of fault must have struck        (2)
 *     --patience N  seconds without any saga's end until the rest counts as forgotten (120)
 *     --lie NAME    what sagas stand on says what is not so: disk, clock, line or engine (storm/lies.ts)
 *     --json FILE   the figures, and all that is known of sagas that broke a promise
 *
 *   npm run drill -- --sagas 1000             a bad night of the provider: sagas come at a steady rate; in the middle it
 *                                             takes orders without an answer, then answers nothing, and a worker holds
 *                                             new sagas; it comes back. One person sends one job for what is stuck, one
 *                                             evidence file for what is in doubt, and has the rest reconciled, all with
 *                                             the command line. docs/operating.md tells what that person does
 *     --sagas N     how many                                              (1000)
 *     --rate N      how many come in one second                           (2)
 *     --limit N     calls per second that are allowed, for all workers    (20)
 *     --workers N   worker processes                                      (2)
 *     --patience N  seconds until what does not come about is given up    (600)
 *     --json FILE   the figures
 *
 *   npm run disasters -- restore-together …   these, or all; --list prints their names. Sagas are in the middle of their
 *                                             work; then databases are lost and restored, a cluster fails over, all
 *                                             workers are gone, a disk is full, a certificate expires. One person does
 *                                             what docs/disasters.md says
 *     --patience N  seconds until sagas that do not end are given up      (300)
 *     --json FILE   what was seen, said and typed
 *
 * Status 0: every promise was kept, and what was to strike did. 1: not so. 2: wrong arguments.
 */
import { randomInt } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { NoTemporalError } from '../../../scripts/temporal-cli';
import { buildPrograms } from '../../support/programs';
import { Closers } from './closers';
import { disasters } from './disasters/disasters';
import { printed as printedDisaster, rehearse, type Rehearsed } from './disasters/rehearsal';
import { NightRun } from './night/night';
import { printed, tooSeldom, type Told } from './report';
import { lies } from './storm/lies';
import { planOf } from './storm/plan';
import { ChaosRun } from './storm/run';

/** Where the command line is not as the comment above has it. */
class WrongArguments extends Error {}

const closers = new Closers();

async function chaos(): Promise<boolean> {
  const { values } = read({
    ...texts('seed', 'lie', 'json'),
    ...texts('sagas', 'at-once', 'workers', 'least', 'patience'),
  });
  const { seed = String(randomInt(1_000_000)), json } = values;
  const lie = lies.find((one) => one === values.lie);
  if (values.lie !== undefined && lie === undefined) throw new WrongArguments(`--lie is one of ${lies.join(', ')}`);
  const sagas = whole(values, 'sagas', 150);
  const least = whole(values, 'least', 2, 0);
  const options = {
    lie,
    atOnce: whole(values, 'at-once', 60),
    workers: whole(values, 'workers', 2),
    patienceMs: whole(values, 'patience', 120) * 1_000,
  };
  const repeat = `npm run chaos -- --sagas ${sagas} --seed ${seed}${lie === undefined ? '' : ` --lie ${lie}`}`;
  console.log(`chaos: ${repeat}`);
  const { suspects, ...told } = await new ChaosRun(planOf(seed, sagas), options, closers).result();
  const good = await conclude(told, least, json, { seed, sagas, repeat, suspects });
  console.log(`${told.violations.length} violations. The same plan again: ${repeat}`);
  return good;
}

async function drill(): Promise<boolean> {
  const { values } = read(texts('sagas', 'rate', 'limit', 'workers', 'patience', 'json'));
  const options = {
    // Fewer cannot show all that has to be seen.
    sagas: whole(values, 'sagas', 1_000, 40),
    perSecond: whole(values, 'rate', 2),
    callsPerSecond: whole(values, 'limit', 20),
    workers: whole(values, 'workers', 2),
    patienceMs: whole(values, 'patience', 600) * 1_000,
  };
  const { sagas, perSecond } = options;
  console.log(
    `drill: ${sagas} sagas, ${perSecond} a second: the provider goes down in the middle; this waits until it is back and all have ended`,
  );
  const told = await new NightRun(options, closers).result();
  const good = await conclude(told, 1, values.json, { sagas });
  console.log(good ? 'the night went well' : `the night went wrong: ${told.violations.length} violations`);
  return good;
}

/** @returns whether all is well */
async function conclude(told: Told, least: number, json: string | undefined, more: object): Promise<boolean> {
  const seldom = tooSeldom(told.sections, least);
  console.log(`\n${printed(told.sections)}\n`);
  for (const sentence of told.violations) console.log(`VIOLATION  ${sentence}`);
  for (const sentence of seldom) console.log(`TOO SELDOM  ${sentence}`);
  const good = told.violations.length === 0 && seldom.length === 0;
  if (json) await writeFile(json, JSON.stringify({ good, ...told, seldom, ...more }, null, 2));
  return good;
}

async function rehearseDisasters(): Promise<boolean> {
  const { values, positionals } = read({ list: { type: 'boolean' }, ...texts('patience', 'json') }, true);
  const patienceMs = whole(values, 'patience', 300) * 1_000;
  const named = positionals.map((name) => {
    const found = disasters.find((one) => one.name === name);
    if (found) return found;
    throw new WrongArguments(`there is no disaster ${name}: ${disasters.map((one) => one.name).join(', ')}`);
  });
  if (values.list) {
    for (const { name, title } of disasters) console.log(`${name.padEnd(22)} ${title}`);
    return true;
  }
  const rehearsed: Rehearsed[] = [];
  const compiled = await buildPrograms();
  for (const disaster of named.length > 0 ? named : disasters) {
    const lacking = disaster.lacks?.();
    // What this machine lacks CI has, so there it fails.
    if (lacking !== undefined && !process.env['CI']) {
      console.log(`\nleft out  ${disaster.name}: ${lacking}`);
      continue;
    }
    process.stderr.write(`${disaster.name}: ${disaster.title}\n`);
    const own = new Closers();
    closers.add(() => own.close());
    const result = await rehearse(disaster, { compiled, patienceMs, closers: own });
    await own.close();
    rehearsed.push(result);
    console.log(`\n${printedDisaster(result)}`);
  }
  const passed = rehearsed.filter((one) => one.passed).length;
  const failed = rehearsed.length - passed;
  if (values.json) await writeFile(values.json, JSON.stringify({ passed, failed, rehearsed }, null, 2));
  console.log(`\n${passed} passed, ${failed} failed`);
  return failed === 0;
}

const texts = <Name extends string>(...names: Name[]) =>
  Object.fromEntries(names.map((name) => [name, { type: 'string' }])) as Record<Name, { type: 'string' }>;

/** @throws WrongArguments */
function read<const O extends ParseArgsConfig['options']>(options: O, allowPositionals = false) {
  try {
    return parseArgs({ args: process.argv.slice(3), options, allowPositionals });
  } catch (error) {
    throw new WrongArguments((error as Error).message);
  }
}

/** @throws WrongArguments where it is no whole number or too small */
function whole<Name extends string>(
  values: Partial<Record<Name, string>>,
  name: Name,
  usual: number,
  least = 1,
): number {
  const value = Number(values[name] ?? usual);
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new WrongArguments(`--${name} must be a whole number from ${least} on`);
}

/** Whatever ends the program, a mistake of ours too, leaves nothing running. */
async function main(): Promise<number> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => void closers.close().finally(() => process.exit(130)));
  process.once('uncaughtException', (error) => {
    console.error(error);
    void closers.close().finally(() => process.exit(1));
  });
  const stories = { chaos, drill, disasters: rehearseDisasters };
  try {
    return (await stories[process.argv[2] as keyof typeof stories]()) ? 0 : 1;
  } catch (error) {
    console.error(error instanceof NoTemporalError || error instanceof WrongArguments ? error.message : error);
    return error instanceof WrongArguments ? 2 : 1;
  } finally {
    await closers.close();
  }
}

void main().then((status) => process.exit(status));
