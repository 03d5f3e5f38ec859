/**
 * A disk is full: PostgreSQL's, with both databases or with the journal's only, or the one of the journal's file. It
 * gets room again.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { askPostgres } from '../../../../deploy/stack/postgres';
import { SmallDisk, whyNoSmallDisk } from '../../../integration/journal/small-disk';
import type { Cluster } from '../../../support/postgres';
import { isRunning } from '../../../support/is-running';
import { until } from '../../../support/rig';
import { answer, untilWaiting } from '../../../support/sagas';
import { journalOf, type Disaster, type Scene } from './scene';

/** For a journal in a file, with its write-ahead log. */
const fileKilobytes = 16 * 1024;

/** Beyond what is there: one segment of PostgreSQL's log, and some. */
const roomKilobytes = 40 * 1024;

const isFull = /Our own journal fails.*its disk is full/;
/** PostgreSQL may not come back from its crash before there is room. */
const isFullOrGone = /Our own journal fails.*(its disk is full|no database answers)/;
/** While it comes back it says something else for a moment. */
const triesMax = 10;

export const fullDisks: Disaster[] = [
  {
    name: 'disk-full',
    title: 'The disk of PostgreSQL is full, with Temporal’s databases and the journal on it',
    lacks: whyNoSmallDisk,
    strike: async (scene) => {
      const { cluster, stack } = scene.ground;
      const disk = await onSmallDisk(scene, cluster);
      scene.phase('the disk is full');
      await fill(disk, cluster);
      scene.cast.letGo();
      const { status, err } = await scene.person.type(['inbox'], [0, 1, 3, 4, 70]);
      scene.phase('somebody makes room');
      await makeRoom(scene, disk, cluster);
      if (!isRunning(stack.server.pid)) await stack.server.restart();
      return { facts: { [`meanwhile the command line says: ${err.trim()}`]: status === 3 } };
    },
  },
  {
    name: 'disk-full-journal',
    title: 'The disk of the journal’s own PostgreSQL is full',
    ground: { journal: 'apart' },
    lacks: whyNoSmallDisk,
    strike: async (scene) => {
      const journalCluster = journalOf(scene);
      const disk = await onSmallDisk(scene, journalCluster);
      scene.phase('the disk is full');
      await fill(disk, journalCluster);
      await stuckByTheJournal(scene);
      scene.phase('somebody makes room');
      await makeRoom(scene, disk, journalCluster);
      return { facts: {}, later: () => ({ 'sagas said what the journal lacks': scene.hasSaid(isFullOrGone) }) };
    },
  },
  {
    name: 'disk-full-file',
    title: 'The disk of a journal in a file is full',
    ground: { journal: 'file' },
    lacks: whyNoSmallDisk,
    strike: async (scene) => {
      const { ground } = scene;
      scene.phase('the journal moves to a small disk');
      await ground.dismiss();
      const disk = SmallDisk.make(fileKilobytes);
      scene.closers.add(() => disk.remove());
      const [from, to] = [ground.journalUrl.slice('file:'.length), join(disk.folder, 'journal.db')];
      for (const part of ['', '-wal']) if (existsSync(from + part)) copyFileSync(from + part, to + part);
      ground.journalUrl = `file:${to}`;
      await ground.hire({ JOURNAL_URL: ground.journalUrl });
      scene.phase('the disk is full');
      disk.fill();
      await stuckByTheJournal(scene);
      scene.phase('somebody makes room');
      scene.note('df "$JOURNAL" && rm …');
      disk.empty();
      return { facts: {}, later: () => ({ 'sagas said that its disk was full': scene.hasSaid(isFull) }) };
    },
  },
];

async function onSmallDisk(scene: Scene, { part, folder }: Cluster): Promise<SmallDisk> {
  scene.phase('PostgreSQL moves to a small disk');
  await part.kill();
  const data = join(folder, 'data');
  const used = Number(execFileSync('du', ['--summarize', '-k', data], { encoding: 'utf8' }).split('\t')[0]);
  const disk = SmallDisk.make(used + roomKilobytes);
  scene.closers.add(() => disk.remove());
  execFileSync('cp', ['-a', data, disk.folder]);
  rmSync(data, { recursive: true });
  symlinkSync(join(disk.folder, 'data'), data);
  await part.restart();
  return disk;
}

/** Somebody else writes until nothing fits any more; then the log of PostgreSQL grows until it cannot go on. */
async function fill(disk: SmallDisk, cluster: Cluster): Promise<void> {
  disk.fill();
  const write = "select pg_logical_emit_message(true, 'somebody', repeat('x', 1000000))";
  await until(async () => !(await isDone(cluster, write)));
}

async function isDone({ programs, superuser }: Cluster, statement: string): Promise<boolean> {
  return askPostgres(programs, { ...superuser, database: 'postgres' }, statement).then(
    () => true,
    () => false,
  );
}

/** As the system's supervisor, or compose, does by itself: starts PostgreSQL if it has ended. */
async function makeRoom(scene: Scene, disk: SmallDisk, cluster: Cluster): Promise<void> {
  scene.note('df "$PGDATA" && rm …');
  disk.empty();
  if (!isRunning(cluster.part.pid)) {
    scene.note('pg_ctl start');
    await cluster.part.restart();
  }
  await until(() => isDone(cluster, 'checkpoint'));
}

/** The calls that are in flight end, and one saga wants to go on. */
async function stuckByTheJournal(scene: Scene): Promise<void> {
  const waiting = scene.cast.member('waits for an approval');
  scene.cast.letGo();
  let said = await scene.cast.getStuck(waiting);
  for (let tries = 1; tries < triesMax && !isFull.test(said.question); tries += 1) {
    await answer(waiting.saga, 'retry');
    said = await untilWaiting(waiting.saga, 'stuck');
  }
  await scene.listen();
}
