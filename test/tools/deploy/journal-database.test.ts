/** The script that makes the journal's role and database, on a PostgreSQL that has other databases beside it. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describeWithPostgres, PostgresServer } from '../../integration/journal/postgres';
import { runHere } from '../../support/command-line';
import { asPsql } from './psql';

const script = join(__dirname, '..', '..', '..', 'deploy', 'journal', 'setup-database.sh');

let server: PostgresServer;

describeWithPostgres('the set-up of the journal’s database', () => {
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server.stop());

  const setUp = (password: string) =>
    execFileSync('sh', [script], {
      env: { ...asPsql(server), JOURNAL_PASSWORD: password },
      stdio: ['ignore', 'pipe', 'pipe'],
      encoding: 'utf8',
    });
  const urlFor = (user: string, password: string) => server.url({ database: 'journal', user, password });
  const status = (password: string) =>
    runHere(['journal', 'status', '--json'], '', { JOURNAL_URL: urlFor('journal', password) });

  it('makes both, for the journal alone', async () => {
    expect(setUp('first')).toBe('');
    expect(JSON.parse((await status('first')).out)).toMatchObject({ schema: { found: 0 } });
    const JOURNAL_URL = urlFor('journal', 'first');
    expect(await runHere(['journal', 'migrate'], '', { JOURNAL_URL })).toMatchObject({ status: 0 });
    const [rights] = await server.ask(
      "select rolsuper, rolcreatedb, rolcreaterole from pg_roles where rolname = 'journal'",
    );
    expect(rights).toEqual({ rolsuper: false, rolcreatedb: false, rolcreaterole: false });
    await server.ask("create role somebody login password 'else'");
    const asSomebody = { database: 'journal', user: 'somebody', password: 'else' };
    await expect(server.ask('select 1', asSomebody)).rejects.toThrow('permission denied for database');
  });

  it('keeps what there is when it is run again, and gives the role its new password', async () => {
    const before = JSON.parse((await status('first')).out) as { id: string; schema: object };
    expect(setUp("it's another")).toBe('');
    expect((await status('first')).err).toMatch(/refuses these credentials/);
    const after = await status("it's another");
    expect(JSON.parse(after.out)).toMatchObject({ id: before.id, schema: before.schema });
  });

  it('says what is missing', () => {
    expect(() => setUp('')).toThrow(/JOURNAL_PASSWORD: must be set/);
  });
});
