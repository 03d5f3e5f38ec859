/**
 * Disasters, rehearsed: sagas are in the middle of their work, some wait for a person, some have a call in flight,
 * some are queued. Then databases are lost and restored, a cluster fails over, all workers are gone, a disk is full, a
 * certificate expires. One person does what docs/disasters.md says, with the command line; the provider's ledger is
 * asked what has become of all.
 *
 *   npm run disasters                          all of them
 *   npm run disasters -- restore-together …    these
 *   npm run disasters -- --list                their names
 *
 *     --patience N  seconds until sagas that do not end are given up    (300)
 *     --json FILE   what was seen, said and typed
 *
 * Status 0: nothing was bought twice, forgotten or left behind silently, and each disaster was one. 1: not so. 2: wrong
 * arguments.
 */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { buildPrograms } from '../../support/programs';
import { Closers } from '../chaos/closers';
import { closeWhenEnded, exitAs, whole } from '../chaos/program';
import { disasters } from './disasters';
import { Rehearsal, type Rehearsed } from './rehearsal';
import { printed } from './report';
import type { Disaster } from './scene';

async function main(): Promise<number> {
  const options = readArguments();
  if (options === undefined) return 2;
  const { chosen, list, patienceMs, json } = options;
  if (list) {
    for (const { name, title } of disasters) console.log(`${name.padEnd(22)} ${title}`);
    return 0;
  }
  const closers = new Closers();
  closeWhenEnded(() => closers.close());
  const rehearsed: Rehearsed[] = [];
  try {
    const compiled = await buildPrograms();
    for (const disaster of chosen) {
      const lacking = disaster.lacks?.();
      // What this machine lacks CI has, so there it fails.
      if (lacking !== undefined && !process.env['CI']) {
        console.log(`\nleft out  ${disaster.name}: ${lacking}`);
        continue;
      }
      process.stderr.write(`${disaster.name}: ${disaster.title}\n`);
      const rehearsal = new Rehearsal(disaster, patienceMs);
      closers.add(() => rehearsal.close());
      const result = await rehearsal.result(compiled);
      await rehearsal.close();
      rehearsed.push(result);
      console.log(`\n${printed(result)}`);
    }
  } finally {
    await closers.close();
  }
  const passed = rehearsed.filter((one) => one.passed).length;
  const failed = rehearsed.length - passed;
  if (json) await writeFile(json, JSON.stringify({ passed, failed, rehearsed }, null, 2));
  console.log(`\n${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        list: { type: 'boolean', default: false },
        patience: { type: 'string', default: '300' },
        json: { type: 'string' },
      },
    });
    const named = positionals.map((name) => disasters.find((one) => one.name === name) ?? unknown(name));
    return {
      chosen: named.length > 0 ? named : disasters,
      list: values.list,
      patienceMs: whole('patience', values.patience) * 1_000,
      json: values.json,
    };
  } catch (error) {
    console.error((error as Error).message);
    return undefined;
  }
}

/** @throws always */
function unknown(name: string): Disaster {
  throw new Error(`there is no disaster ${name}: ${disasters.map((one) => one.name).join(', ')}`);
}

exitAs(main);
