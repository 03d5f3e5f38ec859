/** Copies of databases that are in use, and their return: what a backup of long ago is. */
import { copyFileSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'libsql';
import { isStopped } from './is-running';

/** A database in SQLite's write-ahead mode; the memory that its processes share is made anew. */
const written = ['', '-wal'];

/** A consistent copy of a file that others write to. */
export function copyDatabase(file: string, to: string): void {
  rmSync(to, { force: true });
  const database = new Database(file, { timeout: 10_000 });
  database.prepare('vacuum into ?').run(to);
  database.close();
}

/**
 * As after a crash at this moment of the one that writes: what it has not written yet is not in it. It stands still
 * meanwhile, and unlike a lock that keeps it from writing, that fails nothing of what it does.
 */
export async function crashCopy(pid: number, file: string, to: string): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  try {
    while (!standsStill(pid)) await pause(1);
    for (const part of written) copyFileSync(file + part, to + part);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}

/** The signal is on its way to each of its threads for a moment. */
function standsStill(pid: number): boolean {
  return readdirSync(`/proc/${pid}/task`).every((thread) => isStopped(`${pid}/task/${thread}`));
}

/** Nobody may have the file open. */
export function putDatabaseBack(copy: string, file: string): void {
  removeDatabase(file);
  for (const part of written) if (existsSync(copy + part)) copyFileSync(copy + part, file + part);
}

export function removeDatabase(file: string): void {
  for (const part of [...written, '-shm']) rmSync(file + part, { force: true });
}
