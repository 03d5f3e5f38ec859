/** A journal that cannot be used: one sentence for a person, and nothing is written. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { sql } from 'kysely';
import { lowPorts, untilReady } from '../../../scripts/reachable';
import { openDatabase, type JournalAddress } from '../../../src/journal/dialects';
import { migrate, schemaNumber } from '../../../src/journal/migrate';
import { claim, openJournal } from '../../../src/journal/open';
import { createSealing } from '../../../src/security/sealing';
import { describeEachDatabase, inFiles } from './databases';
import { Authority, type Certificate } from '../../support/certificates';
import { closeAll, listen } from '../../support/stand-in';
import { PostgresServer } from '../../support/postgres';
import { describeWithPostgres, unless } from '../../support/left-out';
import { add, openedJournals, place, rowOf, Run } from './runs';
import { sentenceOf, unavailable } from './sentences';
import { SmallDisk, whyNoSmallDisk } from './small-disk';

const open = (address: JournalAddress) => openJournal(address, createSealing(undefined));

const noDisk = whyNoSmallDisk();
const describeWithSmallDisk = unless(noDisk);

describeEachDatabase('a journal of another release', ({ fresh, place: somewhere }) => {
  const asked = async <T>(address: JournalAddress, text: string): Promise<T[]> => {
    const db = openDatabase(address);
    try {
      return (await sql.raw<T>(text).execute(db)).rows;
    } finally {
      await db.destroy();
    }
  };

  it('that is newer is neither used nor changed', async () => {
    const address = await fresh();
    await asked(address, `insert into kysely_migration (name, timestamp) values ('9999-later', 'now')`);
    const newer = `the journal is of schema ${schemaNumber + 1}, and this release knows ${schemaNumber}: run the release that made it, or a newer one`;
    expect(await sentenceOf(open(address))).toBe(newer);
    expect(await sentenceOf(migrate(address))).toBe(newer);
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
});

describeEachDatabase('a journal of another namespace', ({ fresh }) => {
  const opened = openedJournals();

  it('is that of the first worker, of which a person who asks makes it none', async () => {
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
  let server: PostgresServer;
  let database: string;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(async () => {
    await server.stop();
  });
  beforeEach(async () => {
    database = await server.createDatabase();
    await migrate({ postgres: server.url({ database }) });
  });

  const refused = async (postgres: string) => {
    const sentence = await sentenceOf(open({ postgres }));
    // Whoever is told to migrate hears the same.
    expect(await sentenceOf(migrate({ postgres }))).toBe(sentence);
    return sentence.replace('the journal cannot be used: ', '');
  };

  it('with another password', async () => {
    expect(await refused(server.url({ password: 'another' }))).toBe('its database refuses these credentials');
  });

  it('where nobody listens', async () => {
    const [port] = await lowPorts(1);
    expect(await refused(server.url({ port: port! }))).toBe('no database answers at its address');
  });

  it('that can only be read: it may be a standby', async () => {
    const url = server.url({ database, options: '-c default_transaction_read_only=on' });
    expect(await sentenceOf(open({ postgres: url }))).toBe(
      'the journal’s database is read-only: is it a standby? Set JOURNAL_URL to the primary',
    );
  });

  it('that forgets what was committed when its machine loses power', async () => {
    const fsync = async (value: 'on' | 'off') => {
      await server.ask(`alter system set fsync = ${value}`);
      await server.ask('select pg_reload_conf()');
      await untilReady('the setting', async () => expect(await server.ask('show fsync')).toEqual([{ fsync: value }]));
    };
    await fsync('off');
    expect(await sentenceOf(open({ postgres: server.url({ database }) }))).toBe(
      'the journal’s database runs with fsync = off: it would lose orders when its machine loses power. Turn fsync on',
    );
    await fsync('on');
    await opened({ postgres: server.url({ database }) });
  });

  it('commits durably, whatever its settings say', async () => {
    const journal = await opened({ postgres: server.url({ database, options: '-c synchronous_commit=off' }) });
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
    ['that has no TLS', () => undefined, 'its database does not support TLS'],
    ['of another authority', () => strange.forServer('IP:127.0.0.1'), 'the certificate of its database is not trusted'],
    ['of another name', () => ours.forServer('DNS:a.test'), 'the certificate of its database is not trusted'],
    ['of long ago', () => ours.forServerLongAgo('a.test'), 'the certificate of its database has expired'],
    ['that is the right one', () => ours.forServer('IP:127.0.0.1'), 'the connection to its database was lost'],
  ])('%s', async (what, certificate, sentence) => {
    const { postgres, told } = await serve(certificate());
    expect(await sentenceOf(open({ postgres }))).toBe(`the journal cannot be used: ${sentence}`);
    const isRight = what === 'that is the right one';
    expect(told).toEqual(isRight ? [expect.stringMatching(/user\0worker\0database\0orders\0/)] : []);
  });
});

describe('a file', () => {
  const { fresh } = inFiles();
  const opened = openedJournals();
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'order-saga-refused-'));
    file = join(folder, 'journal.db');
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  const refused = async (path: string) => {
    const sentence = await sentenceOf(open({ file: path }), [folder]);
    expect(await sentenceOf(migrate({ file: path }), [folder])).toBe(sentence);
    return sentence.replace('the journal cannot be used: ', '');
  };

  it('that is no database stays what it is', async () => {
    const text = 'the accounts of 2019, which somebody still needs\n'.repeat(100);
    writeFileSync(file, text, { mode: 0o644 });
    expect(await refused(file)).toBe('its file is damaged, or is not a journal');
    expect(readFileSync(file, 'utf8')).toBe(text);
    expect(statSync(file).mode & 0o777).toBe(0o644);
  });

  it('that was damaged', async () => {
    const address = await fresh();
    const bytes = readFileSync(address.file);
    writeFileSync(file, bytes.fill(0x58, 100, bytes.length));
    expect(await refused(file)).toBe('its file is damaged, or is not a journal');
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

  it('that somebody else holds is had when the other one lets go', async () => {
    const journal = await opened({ file });
    const other = await opened({ file });
    const run = await Run.begin(journal);
    let letGo = () => {};
    const held = new Promise<void>((resolve) => (letGo = resolve));
    let isHeld = false;
    const holding = other.inTransaction(async () => {
      isHeld = true;
      await held;
    });
    await untilReady('the lock', async () => expect(isHeld).toBe(true));
    const meaning = run.send(place(1));
    letGo();
    await holding;
    await meaning;
  });

  describeWithSmallDisk('on a full disk', () => {
    it('is told so, writes nothing, and goes on when there is room again', async () => {
      const disk = SmallDisk.make(512);
      try {
        const journal = await open({ file: join(disk.folder, 'journal.db') });
        const run = await Run.begin(journal);
        disk.fill();
        let row: string | undefined;
        // What the log has room for is still written: how much that is depends on the file system's blocks.
        await untilReady('the end of the disk', async () => {
          const { why, row: lost } = await unavailable(run.do(add()));
          expect(why).toBe('its disk is full');
          row = lost;
        });
        const before = await journal.db.selectFrom('effect').selectAll().execute();
        const refusedPivot = await unavailable(run.mean(place(1)));
        expect(refusedPivot.why).toBe('its disk is full');
        expect(await rowOf(journal, refusedPivot.row!)).toBeUndefined();
        if (row !== undefined) expect(await rowOf(journal, row)).toBeUndefined();
        expect(await journal.db.selectFrom('effect').selectAll().execute()).toEqual(before);
        disk.empty();
        await run.do(place(1), 'done', { answer: 'placed' });
        expect(await run.again().mean(place(1))).toMatchObject({ how: 'recorded', answer: 'placed' });
        await journal.close();
      } finally {
        disk.remove();
      }
    });
  });
});
