/**
 * The commands that look after the journal, as somebody runs them who sets the service up or has put a backup back, in
 * a file and in PostgreSQL. There is no Temporal here.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { readJournalConfig } from '../../../src/config';
import type { EffectCall } from '../../../src/domain/effects';
import { recordSchema } from '../../../src/domain/record';
import { theJournal } from '../../../src/journal/rows';
import type { Journal } from '../../../src/journal/journal';
import type { SagaKey } from '../../../src/journal/rows';
import { schemaNumber, openJournal } from '../../../src/journal/open';
import { takeTurn } from '../../../src/journal/turns';
import { createSealing } from '../../../src/security/sealing';
import { readDocument } from '../../support/project';
import { folderForFile } from '../../support/folder';
import { describeWithPostgres } from '../../support/left-out';
import { PostgresServer, whyNoPostgres } from '../../support/postgres';
import { runHere, type Ended } from '../../support/command-line';
import { saidThere } from '../../support/operator';

const secret = 'geheim-geheim';

const folder = folderForFile();
let server: PostgresServer | undefined;
beforeAll(async () => {
  if (whyNoPostgres === undefined) server = await PostgresServer.start();
});
afterAll(() => server?.stop());

/** A new place for a journal, as `JOURNAL_URL`; nothing is in it. */
const places = {
  file: () => Promise.resolve(`file:${join(folder.path, randomUUID(), 'journal.db')}`),
  PostgreSQL: async () => server!.url({ database: await server!.createDatabase() }),
};

/** Asks nobody else: whatever is printed is of the journal alone. */
const environmentOf = (url: string) => ({ JOURNAL_URL: url, TEMPORAL_ADDRESS: '127.0.0.1:1' });
const run = (url: string, args: readonly string[], environment: Record<string, string> = {}): Promise<Ended> =>
  runHere(args, '', { ...environmentOf(url), ...environment });

async function made(kind: keyof typeof places): Promise<string> {
  const url = await places[kind]();
  await run(url, ['journal', 'migrate']);
  return url;
}

const documentIn = ({ out }: Ended) => JSON.parse(out) as Record<string, unknown>;
const status = (url: string) => run(url, ['journal', 'status']);
const statusDocument = async (url: string) => documentIn(await run(url, ['journal', 'status', '--json']));
const restored = (url: string, ...args: string[]) => run(url, ['journal', 'restored', ...saidThere, ...args]);

async function withJournal<T>(url: string, work: (journal: Journal) => Promise<T>): Promise<T> {
  const { address } = readJournalConfig({ JOURNAL_URL: url });
  const journal = await openJournal(address, createSealing(undefined));
  try {
    return await work(journal);
  } finally {
    await journal.close();
  }
}

const order: EffectCall = { step: 'place-order', kind: 'pivot', activity: 'placeOrder', about: { cartItems: [501] } };
const keyOf = (reference: string): SagaKey => ({ workflow: 'provisionServers', reference });

async function take(journal: Journal, reference: string): Promise<void> {
  const request = { reference, items: [{ password: secret }] };
  await journal.take(keyOf(reference), { account: 'AB-1', request, run: 'run-1' });
}

/** Intended, and nothing more: as a worker leaves it that died. */
async function intendOrder(journal: Journal, reference: string) {
  const { id, epoch } = await journal.read(theJournal);
  const cursor = { journal: id, epoch, fence: 1 };
  const intended = await journal.intend({ ...keyOf(reference), call: order, run: 'run-1', cursor, inFlightMs: 0 });
  if (intended.how !== 'send') throw new Error(intended.how);
  return { call: order, run: 'run-1', cursor: intended.cursor, inFlightMs: 0 };
}

/** As it is called where somebody reads it. */
const nameOf = (url: string) => url.replace(/\/\/[^/]*@/, '//');

describe('a journal in a file', () => aJournal('file'));
describeWithPostgres('a journal in PostgreSQL', () => aJournal('PostgreSQL'));

function aJournal(kind: keyof typeof places): void {
  it('is made by one command, and left alone by the next one', async () => {
    const url = await places[kind]();
    const name = nameOf(url);
    if (kind === 'PostgreSQL')
      expect(await status(url)).toMatchObject({ status: 2, err: expect.stringMatching(/schema 0, .*migrate`$/m) });
    expect(await run(url, ['journal', 'migrate'])).toEqual({
      status: 0,
      out: `the journal ${name} was of schema 0, and is of schema ${schemaNumber} now\n`,
      err: '',
    });
    const again = await run(url, ['journal', 'migrate', '--json']);
    expect(documentIn(again)).toEqual({ journal: name, from: schemaNumber, to: schemaNumber });
    const { status: exit, out } = await status(url);
    expect(exit).toBe(0);
    expect(out).toContain(`journal         ${name}\nschema          ${schemaNumber}\n`);
    if (kind === 'file') expect(out).toMatch(/database {8}a file: /);
    expect(out).toMatch(/restored {8}not noticed\nnew references {2}are trusted to be new\nreferences {6}0\n/);
  });

  it('tells how many references it has, and of how many orders nobody knows', async () => {
    const url = await made(kind);
    await withJournal(url, async (journal) => {
      for (const reference of ['R-1', 'R-2', 'R-3', 'R-4']) await take(journal, reference);
      await intendOrder(journal, 'R-1');
      const lost = await intendOrder(journal, 'R-2');
      await journal.answered(keyOf('R-2'), lost, { outcome: 'unknown', failure: 'UnknownOutcome', answer: null });
      const done = await intendOrder(journal, 'R-3');
      const value = { order: { note: 'as it came', password: secret } };
      await journal.answered(keyOf('R-3'), done, { outcome: 'done', answer: { how: 'answered', value } });
    });
    // A request that the provider repeats is no less secret.
    const answered = await run(url, ['record', 'R-3', '--timeline']);
    expect(answered.out).toContain('as it came');
    expect(answered.out).not.toContain(secret);
    expect(await statusDocument(url)).toMatchObject({ references: 4, pivots: { intended: 1, unknown: 1 } });
    const { out } = await status(url);
    expect(out).toContain('orders, change orders and switches: 1 intended, 1 of unknown outcome\n');
  });

  it('waits for a person where it was found to be an older copy, and is told what new references are', async () => {
    const url = await made(kind);
    const noticedMs = Date.parse('2026-01-02T03:04:05.000Z');
    await withJournal(url, (journal) =>
      journal.db.updateTable('journal').set({ restored_ms: noticedMs, epoch: noticedMs }).execute(),
    );
    const noticed = await status(url);
    expect(noticed.status).toBe(4);
    expect(noticed.out).toContain(
      'noticed on 2026-01-02 03:04:05 UTC: nothing is sent until `order-saga journal restored`',
    );

    const denied = await restored(url, '--nothing-lost');
    expect(denied).toMatchObject({ status: 2, out: '', err: expect.stringMatching(/something was lost/) });
    expect((await status(url)).status).toBe(4);

    const confirmed = await restored(url, '--json');
    expect(confirmed).toMatchObject({ status: 0, err: '' });
    const { epoch } = documentIn(confirmed);
    expect(documentIn(confirmed)).toMatchObject({ noticed: '2026-01-02T03:04:05.000Z' });
    expect(Date.parse(epoch as string)).toBeGreaterThan(noticedMs);
    const after = await run(url, ['journal', 'status', '--json']);
    expect(after.status).toBe(0);
    expect(documentIn(after)).toMatchObject({ epoch, raisedAt: epoch, newReferences: 'ask' });
    expect(documentIn(after)).not.toHaveProperty('restoredAt');

    const unchanged = await restored(url, '--nothing-lost', '--json');
    expect(documentIn(unchanged)).toMatchObject({ nothingLost: true, changed: false });

    const trusted = await run(url, ['journal', 'trust-new-references', ...saidThere]);
    expect(trusted).toMatchObject({ status: 0, out: expect.stringMatching(/are trusted to be new from now on/) });
    expect(documentIn(await run(url, ['journal', 'trust-new-references', ...saidThere, '--json']))).toMatchObject({
      changed: false,
    });
    expect(await statusDocument(url)).toMatchObject({ epoch, newReferences: 'trust' });
  });

  it('keeps who has said so, and why: no word of that kind is taken without, and the rows stay', async () => {
    const url = await made(kind);
    const all = [
      ['journal', 'restored'],
      ['journal', 'restored', '--nothing-lost'],
      ['journal', 'trust-new-references'],
      ['servers', 'close', '9001'],
      ['servers', 'correct', 'R-1', '9001'],
      ['cancelled', 'R-1'],
      ['cancel', 'R-1'],
    ];
    const { epoch } = await statusDocument(url);
    for (const args of all) {
      for (const less of ['', '--by=ann', '--note=why', '--by= --note=why', '--by=ann --note= ']) {
        const said = less === '' ? [] : less.split(/ (?=--)/);
        expect(await run(url, [...args, ...said])).toMatchObject({ status: 2, out: '' });
      }
    }
    expect(await statusDocument(url)).toMatchObject({ epoch, confirmations: [] });

    await run(url, ['journal', 'restored', '--by', 'ann', '--note', 'the backup of 03:10']);
    await run(url, ['journal', 'trust-new-references', '--by', 'bob', '--note', 'all is\nsent again']);
    const { out } = await status(url);
    expect(out).toMatch(/trust-new-references, says bob: all is sent again\n/);
    expect(out).toMatch(/restored \(epoch [^;]+\), says ann: the backup of 03:10\n/);
    expect(await statusDocument(url)).toMatchObject({
      confirmations: [
        { what: 'trust-new-references', said: { by: 'bob' } },
        { what: 'restored', said: { by: 'ann', note: 'the backup of 03:10' } },
      ],
    });
  });

  it('an order gets no server from another without an id', async () => {
    const line = ['servers', 'correct', 'R-1', '--from', 'R-2', ...saidThere];
    expect(await run(await made(kind), line)).toMatchObject({
      status: 2,
      err: expect.stringMatching(/--from: name the/),
    });
  });

  it('tells loudly of an order that took effect after a person had said that it did not', async () => {
    const url = await made(kind);
    await withJournal(url, async (journal) => {
      await take(journal, 'R-1');
      const intended = await intendOrder(journal, 'R-1');
      await journal.deny(keyOf('R-1'), intended.cursor.row, { by: 'ann', note: 'looked' });
      await journal.answered(keyOf('R-1'), intended, {
        outcome: 'done',
        answer: { how: 'answered', value: { order: 1 } },
      });
    });
    const { out } = await run(url, ['record', 'R-1', '--json']);
    expect(recordSchema.parse(JSON.parse(out))).toMatchObject({
      placement: 'placed',
      effects: [{ outcome: 'done', late: { answer: { value: { order: 1 } } } }],
    });
    const people = await run(url, ['record', 'R-1', '--timeline']);
    expect(people.out).toMatch(/ {2}decided {5}place-order: not placed, says ann: looked\n/);
    expect(people.out).toContain('the order was placed; a call took effect unexpectedly: look');
    expect(people.out).toMatch(/\n {26}LATE {8}place-order, row [0-9a-f-]+: .*look whether it is there twice\n$/);
    // It is the only one, by which the saga goes.
    const [row = ''] = /(?<=LATE {8}place-order, row )[0-9a-f-]+/.exec(people.out) ?? [];
    const second = ['cancelled', 'R-1', '--row', row, '--by', 'me', '--note', 'why'];
    expect(await run(url, second)).toMatchObject({ status: 2, out: '' });
  });
}

describeWithPostgres('a database server that', () => {
  it('was restored or failed over waits for a person, and says so', async () => {
    const url = await made('PostgreSQL');
    await withJournal(url, (journal) => journal.db.updateTable('journal').set({ identity: '1/0000000A' }).execute());
    const { status: exit, out } = await status(url);
    expect(exit).toBe(4);
    expect(out).toMatch(
      /restored {8}the journal’s database was restored .* on timeline 1 of cluster \d+, and was on timeline 10 of cluster 1: nothing is sent until/,
    );
    const { out: said } = await restored(url, '--nothing-lost');
    expect(said).toMatch(/and was on timeline 10 of cluster 1\n.* has lost nothing, as you say/);
    expect((await status(url)).status).toBe(0);
  });

  it('lets a worker write and delete nothing, as docs/deploying.md grants it', async () => {
    const url = await made('PostgreSQL');
    const database = new URL(url).pathname.slice(1);
    const [, grants = ''] = /```sql\n(create role worker[^]*?)```/.exec(readDocument('docs/deploying.md')) ?? [];
    await server!.ask(`revoke connect on database ${database} from public`);
    await server!.ask(grants.replace('database journal', `database ${database}`), { database });
    const forgotten = await server!.ask(
      `select tablename from pg_tables where schemaname = 'public' and tablename not like 'kysely%'
         and not has_table_privilege('worker', format('%I.%I', schemaname, tablename), 'insert')`,
      { database },
    );
    expect(forgotten).toEqual([]);
    const asWorker = server!.url({ database, user: 'worker', password: '…' });
    await withJournal(asWorker, async (journal) => {
      await take(journal, 'R-1');
      const intended = await intendOrder(journal, 'R-1');
      await journal.answered(keyOf('R-1'), intended, { outcome: 'done', answer: null });
      await expect(takeTurn(journal, keyOf('R-1'), 'server 1')).resolves.toMatchObject({
        how: 'already-placed',
      });
      await take(journal, 'R-2');
      await expect(takeTurn(journal, keyOf('R-2'), 'server 1')).resolves.toMatchObject({ how: 'begun' });
      const ending = { run: 'run-1', by: 'provisionServers', outcome: 'done', report: {} } as const;
      await journal.ended(keyOf('R-1'), ending);
      await journal.ended(keyOf('R-2'), { ...ending, resource: 'server 1' });
      await expect(journal.db.deleteFrom('effect').execute()).rejects.toThrow('permission denied');
    });
    // A journal of this release's schema needs no rights.
    expect((await run(asWorker, ['journal', 'migrate'])).out).toMatch(/nothing had to be done\n$/);
    expect((await run(asWorker, ['journal', 'restored', ...saidThere])).status).toBe(0);
  });
});
