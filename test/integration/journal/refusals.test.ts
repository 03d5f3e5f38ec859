/** A journal that is made, and one that cannot be used: one sentence for a person, and nothing is written. */
import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { sql } from 'kysely';
import { lowPorts, untilReady } from '../../../scripts/reachable';
import { openDatabase, type JournalAddress } from '../../../src/journal/database/dialects';
import { migrate, schemaNumber, claim, openJournal } from '../../../src/journal/open';
import { createSealing } from '../../../src/security/sealing';
import { describeEachDatabase, inPostgres } from './databases';
import { Authority, type Certificate } from '../../support/certificates';
import { folderForFile } from '../../support/folder';
import { closeAll, listen } from '../../support/stand-in';
import { describeWithPostgres } from '../../support/left-out';
import { openedJournals, place, rowOf, Run } from './runs';
import { sentenceOf, unavailable } from './sentences';

const open = (address: JournalAddress) => openJournal(address, createSealing(undefined));

describeEachDatabase('a journal', ({ fresh, place: somewhere }) => {
  const opened = openedJournals();
  const asked = async <T>(address: JournalAddress, text: string): Promise<T[]> => {
    const db = openDatabase(address);
    try {
      return (await sql.raw<T>(text).execute(db)).rows;
    } finally {
      await db.destroy();
    }
  };

  it('is made once by many at once', async () => {
    const address = await somewhere();
    const made = await Promise.all(Array.from({ length: 6 }, () => migrate(address)));
    expect(made).toEqual(made.map(({ from }) => ({ from, to: schemaNumber })));
    expect(made.map(({ from }) => from)).toContain(0);
    const journal = await opened(address);
    const [row, ...others] = await journal.db.selectFrom('journal').selectAll().execute();
    expect(others).toEqual([]);
    expect(row).toMatchObject({ raised_ms: 0, restored_ms: null, doubts_new: 0 });
    expect(Math.abs(row!.epoch - Date.now())).toBeLessThan(60_000);
  });

  it('is made as a whole or not at all', async () => {
    const address = await somewhere();
    // The last table of the step is in its way: what came before it must not stay.
    await asked(address, 'create table confirmation (somebody text)');
    await expect(migrate(address)).rejects.toThrow();
    await asked(address, 'drop table confirmation');
    await expect(migrate(address)).resolves.toEqual({ from: 0, to: schemaNumber });
    await opened(address);
  });

  it('gets a column more while it is used: a call may fail for it, and none after that', async () => {
    const address = await fresh();
    const journal = await opened(address);
    const run = await Run.begin(journal);
    const ask = () => Promise.allSettled(Array.from({ length: 4 }, () => journal.firstRequest(run.key)));
    await ask();
    await asked(address, 'alter table reference add column more text');
    await ask();
    expect((await ask()).map(({ status }) => status)).toEqual(Array(4).fill('fulfilled'));
  });

  it('that is newer is neither used nor changed', async () => {
    const address = await fresh();
    await asked(address, `insert into kysely_migration (name, timestamp) values ('9999-later', 'now')`);
    const newer = `the journal is of schema ${schemaNumber + 1}, and this release knows ${schemaNumber}: run the release that made it, or a newer one`;
    for (const use of [open, migrate]) expect(await sentenceOf(use(address))).toBe(newer);
    expect(await asked(address, 'select * from effect')).toEqual([]);
  });

  it('that is older is brought up to date in a file, and on a server only by the command', async () => {
    const address = await somewhere();
    if ('file' in address) {
      await (await open(address)).close();
      return;
    }
    expect(await sentenceOf(open(address))).toBe(
      `the journal is of schema 0, and this release needs ${schemaNumber}: run \`order-saga journal migrate\``,
    );
    expect(await asked(address, `select * from pg_tables where schemaname = 'public'`)).toEqual([]);
  });

  it('is that of the first worker’s namespace, of which a person who asks makes it none', async () => {
    const journal = await opened(await fresh());
    await claim(journal, 'mine', { writes: false });
    await claim(journal, 'orders');
    await claim(journal, 'orders');
    await expect(claim(journal, 'mine')).rejects.toThrow('the journal is that of namespace orders, not of mine');
    await expect(claim(journal, 'mine', { writes: false })).rejects.toThrow(/namespace orders/);
  });
});

describeWithPostgres('PostgreSQL', () => {
  const opened = openedJournals();
  const { server, freshDatabase } = inPostgres();
  let database: string;
  beforeAll(async () => {
    database = await freshDatabase();
  });

  const refused = async (postgres: string) => {
    const sentence = await sentenceOf(open({ postgres }));
    // The command that migrates fails with the same sentence.
    expect(await sentenceOf(migrate({ postgres }))).toBe(sentence);
    return sentence.replace('the journal cannot be used: ', '');
  };

  it('with another password, or where nobody listens', async () => {
    expect(await refused(server().url({ password: 'another' }))).toBe('its database refuses these credentials');
    const [port] = await lowPorts(1);
    expect(await refused(server().url({ port: port! }))).toBe('no database answers at its address');
  });

  it('that can only be read: it may be a standby', async () => {
    const url = server().url({ database, options: '-c default_transaction_read_only=on' });
    expect(await sentenceOf(open({ postgres: url }))).toBe(
      'the journal’s database is read-only: is it a standby? Set JOURNAL_URL to the primary',
    );
  });

  it('lends no session again that cannot write, nor those that are as old', async () => {
    const journal = await opened({ postgres: server().url({ database }) });
    const run = await Run.begin(journal);
    const many = Array.from({ length: 5 });
    await Promise.all(
      many.map(() =>
        journal.db.connection().execute(async (db) => {
          await sql`set session characteristics as transaction read only`.execute(db);
          await sql`select pg_sleep(0.2)`.execute(db);
        }),
      ),
    );
    expect(await unavailable(run.intend(place(1)))).toMatchObject({ why: 'its database is read-only' });
    await Promise.all(many.map(() => Run.begin(journal)));
    await run.do(place(1));
  });

  it('that forgets what was committed when its machine loses power', async () => {
    const fsync = async (value: 'on' | 'off') => {
      await server().ask(`alter system set fsync = ${value}`);
      await server().ask('select pg_reload_conf()');
      await untilReady('the setting', async () => expect(await server().ask('show fsync')).toEqual([{ fsync: value }]));
    };
    await fsync('off');
    expect(await sentenceOf(open({ postgres: server().url({ database }) }))).toBe(
      'the journal’s database runs with fsync = off: it would lose orders when its machine loses power. Turn fsync on',
    );
    await fsync('on');
    await opened({ postgres: server().url({ database }) });
  });

  it('commits durably, whatever its settings say', async () => {
    const journal = await opened({ postgres: server().url({ database, options: '-c synchronous_commit=off' }) });
    const asked = sql<{ now: string }>`select current_setting('synchronous_commit') as now`;
    // In each of its connections.
    const rows = await Promise.all(
      Array.from({ length: 5 }, () => journal.db.transaction().execute((tx) => asked.execute(tx))),
    );
    expect(rows.map(({ rows: [row] }) => row!.now)).toEqual(rows.map(() => 'on'));
  });
});

describe('a database over TLS', () => {
  const [ours, strange] = [new Authority(), new Authority()];
  afterEach(closeAll);
  afterAll(() => {
    for (const authority of [ours, strange]) authority.remove();
  });

  /** Answers as PostgreSQL does, until it was told who comes: then it hangs up. */
  const serve = async (certificate: Certificate | undefined) => {
    const told: string[] = [];
    const url = await listen(
      createServer((socket) => {
        socket
          .on('error', () => undefined)
          .once('data', () => {
            socket.write(certificate ? 'S' : 'N');
            if (certificate === undefined) return;
            const secure = new TLSSocket(socket, { isServer: true, cert: certificate.cert, key: certificate.key });
            secure
              .on('error', () => undefined)
              .once('data', (data: Buffer) => {
                told.push(data.toString('latin1'));
                secure.destroy();
              });
          });
      }),
    );
    const { certFile } = ours.certificate;
    const query = `sslmode=verify-full&sslrootcert=${encodeURIComponent(certFile)}`;
    return { postgres: `${url.replace('http:', 'postgres:').replace('//', '//worker:word@')}/orders?${query}`, told };
  };

  it.each<[string, () => Certificate | undefined, string]>([
    ['has no TLS', () => undefined, 'its database does not support TLS'],
    [
      'has the certificate of another authority',
      () => strange.forServer('IP:127.0.0.1'),
      'the certificate of its database is not trusted',
    ],
    ['has that of another name', () => ours.forServer('DNS:a.test'), 'the certificate of its database is not trusted'],
    ['has one of long ago', () => ours.forServerLongAgo('a.test'), 'the certificate of its database has expired'],
  ])('that %s is told nothing', async (_, certificate, sentence) => {
    const { postgres, told } = await serve(certificate());
    expect(await sentenceOf(open({ postgres }))).toBe(`the journal cannot be used: ${sentence}`);
    expect(told).toEqual([]);
  });

  it('that has the right certificate is told who comes', async () => {
    const { postgres, told } = await serve(ours.forServer('IP:127.0.0.1'));
    expect(await sentenceOf(open({ postgres }))).toBe(
      'the journal cannot be used: the connection to its database was lost',
    );
    expect(told).toEqual([expect.stringMatching(/user\0worker\0database\0orders\0/)]);
  });
});

describe('a file', () => {
  const opened = openedJournals();
  const folder = folderForFile().path;
  let file: string;
  beforeEach(() => {
    file = join(folder, `${randomUUID()}.db`);
  });

  it('that is no database stays what it is', async () => {
    const text = 'the accounts of 2019, which somebody still needs\n'.repeat(100);
    writeFileSync(file, text, { mode: 0o644 });
    const sentence = 'the journal cannot be used: its file is damaged, or is not a journal';
    for (const use of [open, migrate]) expect(await sentenceOf(use({ file }))).toBe(sentence);
    expect(readFileSync(file, 'utf8')).toBe(text);
    expect(statSync(file).mode & 0o777).toBe(0o644);
  });

  it('is for its owner only when it is made', async () => {
    const inNewFolder = join(folder, 'state', 'journal.db');
    await opened({ file: inNewFolder });
    for (const part of ['', '-wal', '-shm']) expect(statSync(inNewFolder + part).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'state')).mode & 0o777).toBe(0o700);
  });

  it('is synced at each commit', async () => {
    const journal = await opened({ file });
    const asked = async (name: string) =>
      Object.values((await sql.raw<Record<string, unknown>>(`pragma ${name}`).execute(journal.db)).rows[0]!);
    expect(await asked('synchronous')).toEqual([2]);
    expect(await asked('journal_mode')).toEqual(['wal']);
  });

  it('that was not there is made, and who starts is told so', async () => {
    const said: string[] = [];
    const other = `${file}.other`;
    for (let start = 0; start < 2; start += 1)
      await opened({ file: other }, undefined, { how: 'ask', warn: (message) => said.push(message) });
    expect(said).toEqual([expect.stringContaining(`a new journal was made in ${other}`)]);
  });

  it.each(['', '-wal'])(
    'that is not at its place any more (%s) is written to no more, and is again when it is back',
    async (part) => {
      const journal = await opened({ file });
      const run = await Run.begin(journal);
      await run.do(place(1), 'not-done');
      renameSync(file + part, `${file}.moved`);
      const why =
        'its file was removed, moved or replaced: put it back, or stop all workers before they go on with another one';
      expect(await unavailable(run.again().intend(place(2)))).toMatchObject({ why });
      writeFileSync(file + part, '');
      expect(await unavailable(run.again().intend(place(2)))).toMatchObject({ why });
      renameSync(`${file}.moved`, file + part);
      await run.do(place(2));
    },
  );

  it('whose disk is full: is told so, writes nothing, and goes on when there is room again', async () => {
    const journal = await opened({ file });
    const run = await Run.begin(journal);
    const room = (pages: number) => sql.raw(`pragma max_page_count = ${pages}`).execute(journal.db);
    // Of more pages than are there.
    const order = place(...Array.from({ length: 20_000 }, (_, item) => item + 1));
    await room(1);
    const { why, row } = await unavailable(run.intend(order));
    expect(why).toBe('its disk is full');
    expect(await rowOf(journal, row!)).toBeUndefined();
    await room(1_000_000);
    await run.do(order, 'done', { answer: 'placed' });
    expect(await run.again().intend(order)).toMatchObject({ how: 'recorded', answer: 'placed' });
  });
});
