/**
 * One rehearsal: sagas take their places, the disaster strikes, a backend sends again, a person settles the rest, and
 * all is judged.
 */
import { endOf, violationsOf, type Lived } from '../judgement';
import { needed, type Told } from '../report';
import { countOpen, rowsOf, type Closers } from '../world';
import { Cast } from './cast';
import { startGround } from './ground';
import { Scene, type Disaster, type Expected } from './scene';

export interface Rehearsed extends Told {
  commands: string[];
  sweep: unknown;
}

interface Rehearsal {
  compiled: string;
  patienceMs: number;
  closers: Closers;
}

/** @throws where it could not even begin */
export async function rehearse(
  { ground: options = {}, strike }: Disaster,
  { compiled, patienceMs, closers }: Rehearsal,
): Promise<Rehearsed> {
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
    violations.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  scene.phase('judgement');
  const sagas: Lived[] = await Promise.all(
    cast.members.map(async ({ saga, ...member }) => ({ ...member, ...(await endOf(saga)) })),
  );
  await ground.dismiss();
  const { ledger } = ground.sandbox;
  const rows = await rowsOf(ground.journalUrl).catch((error: unknown) => {
    violations.push(`the journal cannot be read: ${String(error)}`);
    return [];
  });
  violations.push(...violationsOf(ledger, sagas, expected?.rowsLost ? undefined : rows));
  const facts = Object.entries({ ...expected?.facts, ...expected?.later?.() });
  const mishaps = crews.flatMap((crew) => crew.mishaps);
  return {
    sections: [
      scene.phases.section(),
      { title: 'To be seen', figures: facts.map(([of, came]) => needed(of, came ? 1 : 0)) },
      {
        title: 'What sagas said',
        figures: scene.said.map(({ state, words, count }) => ({ of: state, count, detail: words })),
      },
      {
        title: 'What there was',
        figures: [
          { of: 'sagas', count: sagas.length },
          { of: 'calls to the provider', count: ledger.calls.length },
          { of: 'effects there', count: ledger.entries.length },
          { of: 'rows of the journal', count: rows.length },
          // The disaster itself ends some.
          { of: 'workers that nobody ended, or that did not start', count: mishaps.length, detail: mishaps.join('; ') },
        ],
      },
    ],
    ...{ violations, sweep, commands: [...person.commands] },
  };
}
