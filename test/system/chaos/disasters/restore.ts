/**
 * PostgreSQL is lost, and restored from a base backup and the archive of its log: both databases together, Temporal's
 * alone, the journal's alone; to a point in time, or to the end of what was archived.
 */
import { untilWaiting } from '../../../support/sagas';
import type { Cluster } from '../../../support/postgres';
import { ArchivedPostgres } from './archived-postgres';
import { journalOf, type Disaster, type Expected, type Scene } from './scene';
import { saidThere } from '../../../support/operator';

const restored = /^The journal was restored/;

export const restores: Disaster[] = [
  {
    name: 'restore-together',
    title: 'PostgreSQL is lost, and restored to a point in time: Temporal and the journal together',
    strike: async (scene) => {
      await restoreBoth(scene);
      return newEpoch(scene);
    },
  },
  {
    name: 'restore-together-unsaid',
    title: 'Temporal and the journal are restored together, and nobody says so: the workers find out by the timeline',
    strike: async (scene) => {
      const { cast, ground } = scene;
      const { sandbox } = ground;
      await restoreBoth(scene);
      scene.phase('the workers begin, the backend sends again, and nobody has said anything');
      const effectsBefore = sandbox.ledger.entries.length;
      await ground.hire();
      await cast.sendAgain();
      const waiting = cast.member('waits for an approval (2)');
      await untilWaiting(waiting.saga, 'approval');
      await cast.getStuck(waiting);
      // Nobody but the provider knows of its order.
      await untilWaiting(cast.member('came and ended in the lost time').saga, 'stuck');
      await scene.listen();
      const effectsAfter = sandbox.ledger.entries.length;
      return saidLater(scene, (status) => ({
        'the workers found out by the timeline': /restored +the journal’s database was restored or failed over/.test(
          status,
        ),
        'sagas said why': scene.hasSaid(/Our own journal was restored or replaced: .*it is on timeline/),
        'nothing was sent until a person had said it': effectsAfter === effectsBefore,
      }));
    },
  },
  {
    name: 'restore-temporal',
    title: 'Temporal’s PostgreSQL is lost, and restored to a point in time; the journal’s stays, and so do the workers',
    ground: { journal: 'apart' },
    strike: async (scene) => {
      const { stack } = scene.ground;
      const { postgres, target } = await loseTime(scene, scene.ground.cluster);
      scene.phase('the disaster, and the restore');
      await stack.server.kill();
      await postgres.lose();
      scene.cast.letGo();
      await postgres.restore(target);
      await stack.server.restart();
      return { facts: {}, later: () => ({ 'nobody was asked about the journal': !scene.hasSaid(restored) }) };
    },
  },
  {
    name: 'restore-journal',
    title: 'The journal’s PostgreSQL is lost, and restored to a point in time; Temporal’s stays',
    ground: { journal: 'apart' },
    strike: async (scene) => {
      const { postgres, target } = await loseTime(scene, journalOf(scene));
      scene.phase('the disaster, and the restore');
      await postgres.lose();
      await scene.ground.dismiss();
      scene.cast.letGo();
      await postgres.restore(target);
      return newEpoch(scene);
    },
  },
  {
    name: 'journal-lost-seconds',
    title: 'The journal loses its last seconds, which were not archived yet; nobody says so, and the workers find out',
    ground: { journal: 'apart' },
    strike: async (scene) => {
      const { cast } = scene;
      const postgres = await ArchivedPostgres.of(journalOf(scene), scene.note);
      scene.phase('a backup');
      await postgres.backUp();
      await postgres.archiveAll();
      scene.phase('seconds that no archive has');
      await cast.liveOn();
      scene.phase('the disaster, and the restore');
      await postgres.lose();
      cast.letGo();
      await postgres.restore();
      scene.phase('the workers find out');
      await cast.getStuck(cast.member('came in the lost time, and waits'));
      await cast.getStuck(cast.member('waits for an approval (2)'));
      await scene.listen();
      return saidLater(scene, (status) => ({
        'the workers found out by themselves': /restored +noticed on/.test(status),
        'sagas that could not know were stopped, too':
          scene.said.filter(({ words }) => words.includes('Our own journal was restored or replaced')).length > 1,
      }));
    },
  },
];

/** Temporal's databases and the journal, in one cluster. Afterwards the server runs, and no worker. */
async function restoreBoth(scene: Scene): Promise<void> {
  const { cast, ground } = scene;
  const { postgres, target } = await loseTime(scene, ground.cluster);
  scene.phase('the disaster, and the restore');
  await ground.stack.server.kill();
  await postgres.lose();
  await ground.dismiss();
  cast.letGo();
  await postgres.restore(target);
  await ground.stack.server.restart();
}

/** A backup, a moment, and what happens after it. @returns that moment */
async function loseTime(scene: Scene, cluster: Cluster): Promise<{ postgres: ArchivedPostgres; target: string }> {
  const postgres = await ArchivedPostgres.of(cluster, scene.note);
  scene.phase('a backup');
  await postgres.backUp();
  const target = await postgres.time();
  scene.phase('the lost time: sagas go on, some come, some end');
  await scene.cast.liveOn();
  await postgres.archiveAll();
  return { postgres, target };
}

/** A person has found out by the status what the workers had, and says so. */
async function saidLater(scene: Scene, factsOf: (status: string) => Record<string, boolean>): Promise<Expected> {
  const facts = factsOf(await scene.person.journal(['status'], [4]));
  scene.phase('a person stops the workers, and says so');
  await scene.ground.dismiss();
  return { ...(await newEpoch(scene)), facts };
}

/** With no worker: says that the journal was restored, and lets them begin. */
async function newEpoch(scene: Scene): Promise<Expected> {
  const { person, ground } = scene;
  await person.journal(['restored', ...saidThere]);
  await ground.hire();
  let lost = '';
  return {
    rowsLost: true,
    facts: {},
    finish: async () => {
      await person.journal(['trust-new-references', ...saidThere]);
      lost = await person.journal(['lost'], [0, 4]);
    },
    later: () => ({
      'a person was asked, as the journal was restored': scene.hasSaid(restored),
      [`of what is lost, the journal says: ${lost.trim()}`]: lost !== '',
    }),
  };
}
