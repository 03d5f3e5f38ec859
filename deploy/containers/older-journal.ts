/** A journal as the release before left it: made by the migrations that it had. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Migrator, type Migration } from 'kysely';
import { openDatabase } from '../../src/journal/dialects';
import type { Project } from './project';

const folder = join(__dirname, '..', '..', 'src', 'journal', 'migrations');

/** @returns its address, as the containers see it */
export async function olderJournal(project: Project): Promise<string> {
  const database = 'older_journal';
  const make = `create database ${database} owner journal`;
  await project.inside('postgres', ['psql', '--username', 'temporal', '--dbname', 'temporal', '--command', make]);
  const url = new URL(`postgres://journal:${project.readEnv()['JOURNAL_PASSWORD']}@postgres:5432/${database}`);
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.ts'))
    .map((name) => name.slice(0, -3))
    .sort();
  const before = names.slice(0, -1);
  const migrations = Object.fromEntries(
    await Promise.all(before.map(async (name) => [name, (await import(join(folder, name))) as Migration] as const)),
  );
  const reached = new URL(url);
  reached.host = `${await project.addressOf('postgres')}:5432`;
  const db = openDatabase({ postgres: reached.href });
  try {
    const { error } = await new Migrator({
      db,
      provider: { getMigrations: () => Promise.resolve(migrations) },
    }).migrateToLatest();
    if (error !== undefined) throw error as Error;
  } finally {
    await db.destroy();
  }
  return url.href;
}
