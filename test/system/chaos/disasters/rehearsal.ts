/**
 * One rehearsal: sagas take their places, the disaster strikes, a backend sends again, a person settles the rest, and
 * all is judged.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { outcomeOf } from '../../../support/sagas';
import type { Closers } from '../closers';
import { rowsOf } from '../journal';
import { inTheCart, judge, lost, unprotected, type Lived } from '../judgement';
import { seconds } from '../report';
import { countOpen } from '../world';
import { Cast } from './cast';
import { startGround } from './ground';
import { Scene, type Disaster, type Expected, type Said } from './scene';

export interface Rehearsed {
  name: string;
  title: string;
  passed: boolean;
  violations: string[];
  seconds: number;
  phases: { name: string; seconds: number }[];
  figures: Record<string, number>;
  facts: Record<string, boolean>;
  said: Said[];
  /** What a person typed, in order. */
  commands: string[];
  /** Workers that ended, or did not start, though nobody asked for it. */
  mishaps: string[];
  /** What the sweep at the end found. */
  sweep: unknown;
}

/** Those that have ended say so at once. */
const answerMs = 5_000;

interface Rehearsal {
  /** The folder of our programs. */
  compiled: string;
  /** Until sagas that do not end are given up. */
  patienceMs: number;
  closers: Closers;
}

export async function rehearse(disaster: Disaster, rehearsal: Rehearsal): Promise<Rehearsed> {
  const beginMs = Date.now();
  try {
    return await rehearsed(disaster, rehearsal);
  } catch (error) {
    const { name, title } = disaster;
    const violations = [`it could not be rehearsed: ${wordsOf(error)}`];
    const nothing = { phases: [], figures: {}, facts: {}, said: [], commands: [], mishaps: [], sweep: undefined };
    return { name, title, passed: false, violations, seconds: seconds(Date.now() - beginMs), ...nothing };
  }
}

async function rehearsed(
  { name, title, ground: options = {}, strike }: Disaster,
  { compiled, patienceMs, closers }: Rehearsal,
): Promise<Rehearsed> {
  const beginMs = Date.now();
  const ground = await startGround(closers, compiled, options);
  const { person, crews } = ground;
  const cast = new Cast(ground.sandbox, ground.sagas);
  const scene = new Scene(ground, cast, closers);
  const violations: string[] = [];
  let expected: Expected | undefined;
  let sweep: unknown;
  try {
    scene.phase('sagas take their places');
    await ground.hire();
    await cast.takePlaces();
    expected = await strike(scene);
    scene.phase('the backend sends again, a person settles the rest');
    cast.letGo();
    await cast.sendAgain();
    await person.settle(() => countOpen(ground), scene.listen, patienceMs);
    await expected.finish?.();
    scene.phase('a sweep');
    sweep = (await person.reconcile()).report;
  } catch (error) {
    // A rehearsal that stands still is judged by what there is.
    violations.push(wordsOf(error));
  }
  scene.phase('judgement');
  const sagas: Lived[] = await Promise.all(
    cast.members.map(async ({ saga, ...member }) => {
      const ended = await Promise.race([outcomeOf(saga).catch(() => undefined), pause(answerMs, undefined)]);
      return { ...member, ...(ended === undefined ? {} : { ended }) };
    }),
  );
  await ground.dismiss();
  const { ledger } = ground.sandbox;
  const all = await rowsOf(ground.journalUrl).catch((error: unknown) => {
    violations.push(`the journal cannot be read: ${String(error)}`);
    return [];
  });
  const { doubled, broken, differing } = judge(ledger, sagas, expected?.rowsLost ? undefined : all);
  violations.push(...doubled, ...lost(ledger, sagas), ...broken, ...unprotected(ledger, sagas));
  violations.push(...inTheCart(ledger, sagas), ...differing);
  const facts = { ...expected?.facts, ...expected?.later?.() };
  for (const [fact, came] of Object.entries(facts))
    if (!came) violations.push(`it was to be seen, and was not: ${fact}`);
  const { phases } = scene;
  const endMs = Date.now();
  return {
    ...{ name, title, violations, facts, sweep },
    passed: violations.length === 0,
    seconds: seconds(endMs - beginMs),
    phases: phases.map((phase, nth) => ({
      name: phase.name,
      seconds: seconds((phases[nth + 1]?.beginMs ?? endMs) - phase.beginMs),
    })),
    figures: {
      sagas: sagas.length,
      'calls to the provider': ledger.calls.length,
      'effects there': ledger.entries.length,
      'rows of the journal': all.length,
    },
    said: scene.said,
    commands: [...person.commands],
    mishaps: crews.flatMap(({ mishaps }) => mishaps),
  };
}

const wordsOf = (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error));

export function printed({ name, passed, phases, figures, facts, said, commands, mishaps, sweep, ...told }: Rehearsed) {
  return [
    `${passed ? 'passed' : 'FAILED'}  ${name}  ${told.seconds} s`,
    ...phases.map((phase) => `  ${String(phase.seconds).padStart(6)} s  ${phase.name}`),
    ...Object.entries(figures).map(([of, count]) => `  ${String(count).padStart(6)}    ${of}`),
    ...Object.entries(facts).map(([fact, came]) => `  ${came ? 'seen' : 'NOT SEEN'}: ${fact}`),
    ...said.map(({ state, words, count }) => `  ${count} said, ${state}: ${words.replaceAll('\n', ' ')}`),
    ...commands.map((command) => `  $ ${command}`),
    ...mishaps.map((sentence) => `  a worker: ${sentence.replaceAll('\n', ' ').slice(0, 600)}`),
    `  the sweep: ${JSON.stringify(sweep)}`,
    ...told.violations.map((sentence) => `  VIOLATION  ${sentence}`),
  ].join('\n');
}
