/** Copies of databases that are in use, and their return: what a backup of long ago is. */
import { copyFileSync, rmSync } from 'node:fs';
import Database from 'libsql';

/** A consistent copy of a file that others write to. */
export function copyDatabase(file: string, to: string): void {
  rmSync(to, { force: true });
  const database = new Database(file, { timeout: 10_000 });
  database.prepare('vacuum into ?').run(to);
  database.close();
}

/** Nobody may have the file open. */
export function putDatabaseBack(copy: string, file: string): void {
  for (const part of ['', '-wal', '-shm']) rmSync(`${file}${part}`, { force: true });
  copyFileSync(copy, file);
}
