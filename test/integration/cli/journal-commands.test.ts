/**
 * The commands that look after the journal, as somebody runs them who sets the service up or has put a backup back, in
 * a file and in PostgreSQL. There is no Temporal here.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import { readJournalConfig } from '../../../src/config';
import type { EffectCall } from '../../../src/domain/effects';
import { recordSchema } from '../../../src/domain/record';
import type { Journal } from '../../../src/journal/journal';
import type { SagaKey } from '../../../src/journal/rows';
import { schemaNumber } from '../../../src/journal/migrate';
import { openJournal } from '../../../src/journal/open';
import { takeTurn } from '../../../src/journal/turns';
import { parsePayloadKeys } from '../../../src/security/keys';
import { createSealing } from '../../../src/security/sealing';
import { readDocument } from '../../docs/tables';
import { describeWithPostgres, whyNoPostgres, PostgresServer } from '../journal/postgres';
import { runCommand, runHere, type Ended } from '../../support/command-line';
import { describeInWays, itInWays, takesWays } from '../../support/left-out';
import { saidThere } from '../../support/operator';

const [keyOne, keyTwo] = ['k1', 'k2'].map((id) => `${id}:${randomBytes(32).toString('base64')}`) as [string, string];
const secret = 'geheim-geheim';

/** Else not even the server is started. */
const withPostgres = takesWays ? describeWithPostgres : describeInWays;

let folder: string;
let server: PostgresServer | undefined;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'order-saga-journal-'));
  if (takesWays && whyNoPostgres === undefined) server = await PostgresServer.start();
});
afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true });
});

/** A new place for a journal, as `JOURNAL_URL`; nothing is in it. */
const places = {
  file: () => Promise.resolve(`file:${join(folder, randomUUID(), 'journal.db')}`),
  PostgreSQL: async () => server!.url({ database: await server!.createDatabase() }),
};

/** Asks nobody else: whatever is printed is of the journal alone. */
const environmentOf = (url: string) => ({ JOURNAL_URL: url, TEMPORAL_ADDRESS: '127.0.0.1:1' });
const run = (url: string, args: readonly string[], environment: Record<string, string> = {}): Promise<Ended> =>
  runHere(args, '', { ...environmentOf(url), ...environment });

/** In a process of its own: an error of the machine is not one of Jest's. */
const runApart = (url: string, args: readonly string[]) => runCommand(args, environmentOf(url));

/** Split at its spaces. */
const words = '--by op --note why';

const documentIn = ({ out }: Ended) => JSON.parse(out) as Record<string, unknown>;

async function withJournal<T>(
  url: string,
  keys: string | undefined,
  work: (journal: Journal) => Promise<T>,
): Promise<T> {
  const { address } = readJournalConfig({ JOURNAL_URL: url });
  const journal = await openJournal(address, createSealing(keys === undefined ? undefined : parsePayloadKeys(keys)));
  try {
    return await work(journal);
  } finally {
    await journal.close();
  }
}

const order: EffectCall = { step: 'place-order', kind: 'pivot', activity: 'placeOrder', about: { cartItems: [501] } };
const keyOf = (reference: string): SagaKey => ({ workflow: 'provisionServers', reference });

/** A notification that was given up. */
async function dead(journal: Journal, id: string): Promise<void> {
  const key = { route: 'ops', namespace: 'default', workflow_id: 'provision/R-1', reference: 'R-1' };
  const times = { created_ms: 1, since_ms: 1, next_ms: 1, dead_ms: 2 };
  await journal.db
    .insertInto('outbox')
    .values({
      id,
      ...key,
      ...times,
      event: 'waiting',
      kind: null,
      account: null,
      body: '',
      delivered_ms: null,
      failure: null,
    })
    .execute();
}

async function take(journal: Journal, reference: string): Promise<void> {
  const request = { reference, items: [{ password: secret }] };
  await journal.take(keyOf(reference), { account: 'AB-1', request, run: 'run-1' });
}

/** Meant, and nothing more: as a worker leaves it that died. */
async function meanOrder(journal: Journal, reference: string) {
  const meant = await journal.mean({ ...keyOf(reference), call: order, run: 'run-1', knows: undefined, inAirMs: 0 });
  if (meant.how !== 'send') throw new Error(meant.how);
  return { call: order, run: 'run-1', knows: meant.knows, inAirMs: 0 };
}

/** As it is called where somebody reads it. */
const nameOf = (url: string) => url.replace(/\/\/[^/]*@/, '//');

describe('a journal in a file', () => aJournal('file'));
withPostgres('a journal in PostgreSQL', () => aJournal('PostgreSQL'));

function aJournal(kind: keyof typeof places): void {
  it('is made by one command, and left alone by the next one', async () => {
    const url = await places[kind]();
    const name = nameOf(url);
    expect(await run(url, ['journal', 'migrate'])).toEqual({
      status: 0,
      out: `the journal ${name} was of schema 0, and is of schema ${schemaNumber} now\n`,
      err: '',
    });
    const again = await run(url, ['journal', 'migrate', '--json']);
    expect(documentIn(again)).toEqual({ journal: name, from: schemaNumber, to: schemaNumber });
    const { status, out } = await run(url, ['journal', 'status']);
    expect(status).toBe(0);
    const schema = String(schemaNumber);
    expect(out).toContain(`journal         ${name}\nschema          ${schema}; this release needs ${schema}\n`);
    expect(out).toMatch(/restored {8}not noticed\nnew references {2}are trusted to be new\nreferences {6}0\n/);
  });

  itInWays('is made once, whoever else makes it at the same time', async () => {
    const url = await places[kind]();
    const ended = await Promise.all([1, 2, 3].map(() => runApart(url, ['journal', 'migrate', '--json'])));
    expect(ended.map(({ status }) => status)).toEqual([0, 0, 0]);
    const { id } = documentIn(await run(url, ['journal', 'status', '--json']));
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('tells how many references it has, and of how many orders nobody knows', async () => {
    const url = await places[kind]();
    await run(url, ['journal', 'migrate']);
    await withJournal(url, undefined, async (journal) => {
      for (const reference of ['R-1', 'R-2', 'R-3', 'R-4']) await take(journal, reference);
      await meanOrder(journal, 'R-1');
      const lost = await meanOrder(journal, 'R-2');
      await journal.answered(keyOf('R-2'), lost, { outcome: 'unknown', failure: 'UnknownOutcome', answer: null });
      const done = await meanOrder(journal, 'R-3');
      const value = { order: { note: 'as it came', password: secret } };
      await journal.answered(keyOf('R-3'), done, { outcome: 'done', answer: { how: 'answered', value } });
    });
    // What the provider says again of a request is no less secret.
    const answered = await run(url, ['record', 'R-3', '--timeline']);
    expect(answered.out).toContain('as it came');
    expect(answered.out).not.toContain(secret);
    expect(documentIn(await run(url, ['journal', 'status', '--json']))).toMatchObject({
      references: 4,
      pivots: { meant: 1, unknown: 1 },
    });
    const { out } = await run(url, ['journal', 'status']);
    expect(out).toContain('orders, change orders and switches: 1 meant, 1 of unknown outcome\n');
  });

  it('waits for a person where its database was put back or failed over, and says so', async () => {
    const url = await places[kind]();
    await run(url, ['journal', 'migrate']);
    if (kind === 'file') {
      const { status, out } = await run(url, ['journal', 'status']);
      expect(status).toBe(0);
      expect(out).toMatch(/database {8}a file: /);
      return;
    }
    await withJournal(url, undefined, (journal) =>
      journal.db.updateTable('journal').set({ incarnation: '1/0000000A' }).execute(),
    );
    const { status, out } = await run(url, ['journal', 'status']);
    expect(status).toBe(4);
    expect(out).toMatch(
      /restored {8}the journal’s database was put back .* on timeline 1 of cluster \d+, and was on timeline 10 of cluster 1: nothing is sent until/,
    );
    const { out: said } = await run(url, ['journal', 'restored', ...saidThere, '--nothing-lost']);
    expect(said).toMatch(/and was on timeline 10 of cluster 1\n.* has lost nothing, as you say/);
    expect((await run(url, ['journal', 'status'])).status).toBe(0);
  });

  it('waits for a person where it was found to be an older copy, and is told what new references are', async () => {
    const url = await places[kind]();
    await run(url, ['journal', 'migrate']);
    const noticedMs = Date.parse('2026-01-02T03:04:05.000Z');
    await withJournal(url, undefined, (journal) =>
      journal.db.updateTable('journal').set({ put_back_ms: noticedMs, epoch: noticedMs }).execute(),
    );
    const noticed = await run(url, ['journal', 'status']);
    expect(noticed.status).toBe(4);
    expect(noticed.out).toContain(
      'noticed on 2026-01-02T03:04:05.000Z: nothing is sent until `order-saga journal restored`',
    );

    const unsaid = await run(url, ['journal', 'restored', ...saidThere]);
    expect(unsaid).toMatchObject({ status: 2, out: '' });
    expect(unsaid.err.trim().split('\n')).toHaveLength(1);
    expect(unsaid.err).toMatch(/--new-references ask.*--new-references trust/);
    expect((await run(url, ['journal', 'status'])).status).toBe(4);

    const denied = await run(url, ['journal', 'restored', ...saidThere, '--nothing-lost']);
    expect(denied).toMatchObject({ status: 2, out: '', err: expect.stringMatching(/something was lost/) });
    const both = await run(url, ['journal', 'restored', ...saidThere, '--nothing-lost', '--new-references', 'ask']);
    expect(both).toMatchObject({ status: 2, out: '' });
    expect((await run(url, ['journal', 'status'])).status).toBe(4);

    const restored = await run(url, ['journal', 'restored', ...saidThere, '--new-references', 'ask', '--json']);
    expect(restored).toMatchObject({ status: 0, err: '' });
    const { epoch } = documentIn(restored);
    expect(documentIn(restored)).toMatchObject({ noticed: '2026-01-02T03:04:05.000Z', newReferences: 'ask' });
    expect(Date.parse(epoch as string)).toBeGreaterThan(noticedMs);
    const after = await run(url, ['journal', 'status', '--json']);
    expect(after.status).toBe(0);
    expect(documentIn(after)).toMatchObject({ epoch, raisedAt: epoch, newReferences: 'ask' });
    expect(documentIn(after)).not.toHaveProperty('putBackAt');

    const unchanged = await run(url, ['journal', 'restored', ...saidThere, '--nothing-lost', '--json']);
    expect(documentIn(unchanged)).toMatchObject({ nothingLost: true, changed: false });

    const trusted = await run(url, ['journal', 'trust-new-references', ...saidThere]);
    expect(trusted).toMatchObject({ status: 0, out: expect.stringMatching(/are trusted to be new from now on/) });
    expect(documentIn(await run(url, ['journal', 'trust-new-references', ...saidThere, '--json']))).toMatchObject({
      changed: false,
    });
    expect(documentIn(await run(url, ['journal', 'status', '--json']))).toMatchObject({
      epoch,
      newReferences: 'trust',
    });
  });

  it('keeps who has said so, and why: no word of that kind is taken without, and the rows stay', async () => {
    const url = await places[kind]();
    await run(url, ['journal', 'migrate']);
    const all = [
      ['journal', 'restored', '--new-references', 'ask'],
      ['journal', 'restored', '--nothing-lost'],
      ['journal', 'trust-new-references'],
      ['notifications', 'drop', '--dead'],
      ['servers', 'close', '9001'],
      ['cancelled', 'R-1'],
      ['cancel', 'R-1'],
    ];
    const { epoch } = documentIn(await run(url, ['journal', 'status', '--json']));
    for (const args of all) {
      for (const less of [
        [],
        ['--by', 'ann'],
        ['--note', 'why'],
        ['--by', '', '--note', 'why'],
        ['--by', 'ann', '--note', ' '],
      ]) {
        expect(await run(url, [...args, ...less])).toMatchObject({ status: 2, out: '' });
      }
    }
    expect(documentIn(await run(url, ['journal', 'status', '--json']))).toMatchObject({ epoch, ceremonies: [] });

    await run(url, ['journal', 'restored', '--new-references', 'ask', '--by', 'ann', '--note', 'the backup of 03:10']);
    await run(url, ['journal', 'trust-new-references', '--by', 'bob', '--note', 'all is\nsent again']);
    await withJournal(url, undefined, (journal) => dead(journal, 'msg-1'));
    await run(url, ['notifications', 'drop', 'msg-1', '--by', 'eve', '--note', 'told by phone']);
    const { out } = await run(url, ['journal', 'status']);
    expect(out).toMatch(/notifications-dropped \(dropped 1; notices msg-1 ops\), says eve: told by phone\n/);
    expect(out).toMatch(/trust-new-references, says bob: all is sent again\n/);
    expect(out).toMatch(/restored \(epoch [^;]+; newReferences ask\), says ann: the backup of 03:10\n/);
    expect(documentIn(await run(url, ['journal', 'status', '--json']))).toMatchObject({
      ceremonies: [
        { what: 'notifications-dropped', said: { by: 'eve', note: 'told by phone' } },
        { what: 'trust-new-references', said: { by: 'bob' } },
        { what: 'restored', said: { by: 'ann', note: 'the backup of 03:10' } },
      ],
    });
  });

  it('keeps them sealed where there are keys, and shows the rest without', async () => {
    const url = await places[kind]();
    const keys = { PAYLOAD_KEYS: keyOne };
    await run(url, ['journal', 'migrate']);
    const note = 'a note that nobody else may read';
    await run(url, ['journal', 'restored', '--new-references', 'trust', '--by', 'ann', '--note', note], keys);
    const rows = await withJournal(url, undefined, (journal) =>
      journal.db.selectFrom('ceremony').selectAll().execute(),
    );
    expect(JSON.stringify(rows)).not.toContain(note);
    expect((await run(url, ['journal', 'status'], keys)).out).toContain(note);
    expect((await run(url, ['journal', 'status'])).out).toMatch(/restored \(.*\), cannot be decrypted here\n/);
  });

  it('restored with trust asks about no new reference', async () => {
    const url = await places[kind]();
    await run(url, ['journal', 'migrate']);
    const { status, out } = await run(url, ['journal', 'restored', ...saidThere, '--new-references', 'trust']);
    expect(status).toBe(0);
    expect(out).toMatch(/no worker had noticed[^]*references that are new here are trusted to be new\n/);
    expect(documentIn(await run(url, ['journal', 'status', '--json']))).toMatchObject({ newReferences: 'trust' });
  });

  it('of a newer release is left alone', async () => {
    const url = await places[kind]();
    await run(url, ['journal', 'migrate']);
    await withJournal(url, undefined, (journal) =>
      (journal.db as unknown as Kysely<{ kysely_migration: { name: string; timestamp: string } }>)
        .insertInto('kysely_migration')
        .values({ name: '9999-of-tomorrow', timestamp: new Date().toISOString() })
        .execute(),
    );
    const status = await run(url, ['journal', 'status', '--json']);
    expect(status).toMatchObject({ status: 2, err: expect.stringMatching(/made by a newer release/) });
    expect(documentIn(status)).toMatchObject({ schema: { found: schemaNumber + 1, needed: schemaNumber } });
    const all = [
      'journal migrate',
      `journal trust-new-references ${words}`,
      `journal restored ${words} --new-references ask`,
      'record R-1',
    ];
    for (const args of all) {
      expect(await run(url, args.split(' '))).toEqual({
        status: 2,
        out: '',
        err: `the journal is of schema ${schemaNumber + 1}, and this release knows ${schemaNumber}: run the release that made it, or a newer one\n`,
      });
    }
  });

  describe('that is encrypted', () => {
    let url: string;
    beforeAll(async () => {
      url = await places[kind]();
      await run(url, ['journal', 'migrate']);
      await withJournal(url, keyOne, async (journal) => {
        await take(journal, 'R-1');
        const meant = await meanOrder(journal, 'R-1');
        await journal.answered(keyOf('R-1'), meant, { outcome: 'unknown', failure: 'UnknownOutcome', answer: null });
        await journal.deny(keyOf('R-1'), meant.knows.row, { by: 'ada', note: 'not in the panel' });
      });
    });

    it('is read with the key that it was written with, also where that is not the first one any more', async () => {
      const { status, out, err } = await run(url, ['record', 'R-1', '--json'], { PAYLOAD_KEYS: `${keyTwo},${keyOne}` });
      expect({ status, err }).toEqual({ status: 0, err: '' });
      const record = recordSchema.parse(JSON.parse(out));
      expect(record).toMatchObject({
        request: { reference: 'R-1', items: [{ password: '[redacted]' }] },
        effects: [{ outcome: 'denied', decided: { by: 'ada', note: 'not in the panel' } }],
      });
      expect(record).not.toHaveProperty('unreadable');
      expect(out).not.toContain(secret);
    });

    it.each([
      ['no key', {}, 'which is not among PAYLOAD_KEYS (none are set)'],
      ['another key', { PAYLOAD_KEYS: keyTwo }, 'which is not among PAYLOAD_KEYS (k2)'],
    ])('is told with %s as far as it can be read', async (_what, environment: Record<string, string>, why) => {
      const asDocument = await run(url, ['record', 'R-1', '--json'], environment);
      expect(asDocument.status).toBe(2);
      expect(asDocument.err).toBe(`3 parts of the record cannot be decrypted here: encrypted with key “k1”, ${why}\n`);
      const record = recordSchema.parse(JSON.parse(asDocument.out));
      expect(record).toMatchObject({ account: 'AB-1', state: 'open', placement: 'none', endings: [] });
      expect(record.effects).toMatchObject([{ step: 'place-order', outcome: 'denied', about: { cartItems: [501] } }]);
      expect(record.effects[0]!.decided).toEqual({ at: expect.any(String) });
      expect(record).not.toHaveProperty('request');
      expect(record.unreadable).toHaveLength(3);
      for (const part of record.unreadable!) expect(part.why).toBe(`encrypted with key “k1”, ${why}`);

      const people = await run(url, ['record', 'R-1', '--timeline'], environment);
      expect(people.status).toBe(2);
      expect(people.out).toContain(`  cannot be read: request: encrypted with key “k1”, ${why}\n`);
      expect(people.out).toMatch(/decided +place-order: not placed, says somebody\n/);
    });

    it('says so where it was altered, and quotes nothing', async () => {
      const altered = await places[kind]();
      await run(altered, ['journal', 'migrate']);
      await withJournal(altered, undefined, async (journal) => {
        await take(journal, 'R-1');
        await journal.db
          .updateTable('reference')
          .set({ request: `{"password":"${secret}"` })
          .execute();
      });
      const { status, out, err } = await run(altered, ['record', 'R-1']);
      expect(status).toBe(2);
      expect(out).toContain('  cannot be read: request: it was altered\n');
      expect(out + err).not.toContain(secret);
    });
  });

  it('tells of what may have been lost, of who settled it, and of a run that went on after an end', async () => {
    const url = await places[kind]();
    await run(url, ['journal', 'migrate']);
    await withJournal(url, undefined, (journal) => take(journal, 'R-1'));
    await run(url, ['journal', 'restored', ...saidThere, '--new-references', 'trust']);
    const meaning = { ...keyOf('R-1'), call: order, knows: undefined, inAirMs: 0 };
    const row = await withJournal(url, undefined, async (journal) => {
      await journal.ended(keyOf('R-1'), { run: 'run-1', by: 'provisionServers', outcome: 'reversed', report: {} });
      const meant = await journal.mean({ ...meaning, run: 'run-2' });
      if (meant.how !== 'unknown') throw new Error(meant.how);
      return meant.row;
    });
    const record = async () => recordSchema.parse(documentIn(await run(url, ['record', 'R-1', '--json'])));
    const timeline = async () => (await run(url, ['record', 'R-1', '--timeline'])).out;
    expect(await record()).toMatchObject({ state: 'open', placement: 'unknown', endings: [{ outcome: 'reversed' }] });
    expect(await timeline()).toMatch(/ {2}in doubt {4}place-order, row .*: the journal was restored, and may/);

    await withJournal(url, undefined, async (journal) => {
      const placed = { how: 'confirmed', vmObjectIds: [9001] };
      await journal.confirm(keyOf('R-1'), row, placed, { by: 'ada', note: 'in the panel' });
      await journal.ended(keyOf('R-1'), { run: 'run-2', by: 'provisionServers', outcome: 'done', report: {} });
    });
    expect(await record()).toMatchObject({ state: 'done', placement: 'placed', servers: [{ vmObjectId: 9001 }] });
    expect(await timeline()).toMatch(/ {2}decided {5}place-order: placed, says ada: in the panel\n/);
  });

  it('tells loudly of an order that took effect after a person had said that it did not', async () => {
    const url = await places[kind]();
    await run(url, ['journal', 'migrate']);
    await withJournal(url, undefined, async (journal) => {
      await take(journal, 'R-1');
      const meant = await meanOrder(journal, 'R-1');
      await journal.deny(keyOf('R-1'), meant.knows.row, { note: 'looked' });
      await journal.answered(keyOf('R-1'), meant, {
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
    expect(people.out).toMatch(/ {2}decided {5}place-order: not placed, says somebody: looked\n/);
    expect(people.out).toContain('the order was placed; a call took effect unexpectedly: look');
    expect(people.out).toMatch(/\n {26}LATE {8}place-order, row [0-9a-f-]+: .*look whether it is there twice\n$/);
  });
}

withPostgres('a database server that', () => {
  const refused = { status: 3, out: '' };

  it('has no such database is told so', async () => {
    const url = server!.url({ database: 'nowhere' });
    expect(await run(url, ['record', 'R-1'])).toEqual({
      ...refused,
      err: `the journal cannot be used: its database does not exist (${nameOf(url)}). JOURNAL_URL says where it is\n`,
    });
  });

  it('refuses the password is told so, and the password is not', async () => {
    const url = server!.url({ password: 'SecretWord' });
    for (const args of [
      ['journal', 'status'],
      ['journal', 'migrate'],
      ['record', 'R-1', '--json'],
    ]) {
      const { status, out, err } = await run(url, args);
      expect(status).toBe(3);
      expect(err).toMatch(/its database refuses these credentials/);
      expect(out + err).not.toContain('SecretWord');
    }
  });

  it('has no tables yet is told what to run', async () => {
    const url = await places.PostgreSQL();
    const needed = String(schemaNumber);
    const sentence = `the journal is of schema 0, and this release needs ${needed}: run \`order-saga journal migrate\`\n`;
    expect(await run(url, ['record', 'R-1'])).toEqual({ status: 2, out: '', err: sentence });
    const status = await run(url, ['journal', 'status']);
    expect(status).toMatchObject({ status: 2, err: 'run `order-saga journal migrate`\n' });
    expect(status.out).toContain(`schema   0; this release needs ${needed}\n`);
  });

  it('can only be read will do for reading', async () => {
    const url = await places.PostgreSQL();
    await run(url, ['journal', 'migrate']);
    await withJournal(url, undefined, (journal) => take(journal, 'R-1'));
    const standby = `${url}?options=-c%20default_transaction_read_only%3Don`;
    expect(await run(standby, ['record', 'R-1'])).toMatchObject({ status: 0, err: '' });
    expect((await run(standby, ['journal', 'status'])).status).toBe(0);
    const { status, err } = await run(standby, ['journal', 'restored', ...saidThere, '--new-references', 'ask']);
    expect(status).toBe(2);
    expect(err).toMatch(/is read-only: is it a standby\?/);
  });

  it('lets an auditor read and nothing else', async () => {
    const url = await places.PostgreSQL();
    await run(url, ['journal', 'migrate']);
    await withJournal(url, undefined, (journal) => take(journal, 'R-1'));
    const database = new URL(url).pathname.slice(1);
    await server!.ask("create role auditor login password 'only-to-read'");
    await server!.ask('grant select on all tables in schema public to auditor', { database });
    const asAuditor = server!.url({ database, user: 'auditor', password: 'only-to-read' });
    expect(await run(asAuditor, ['record', 'R-1'])).toMatchObject({ status: 0, err: '' });
    const { status, err } = await run(asAuditor, ['journal', 'trust-new-references', ...saidThere]);
    expect(status).toBe(3);
    expect(err).toMatch(/its database does not allow this user to write or ask there/);
  });

  it('lets a worker write and delete nothing, as docs/deploying.md grants it', async () => {
    const url = await places.PostgreSQL();
    await run(url, ['journal', 'migrate']);
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
    await withJournal(asWorker, undefined, async (journal) => {
      await take(journal, 'R-1');
      const meant = await meanOrder(journal, 'R-1');
      await journal.answered(keyOf('R-1'), meant, { outcome: 'done', answer: null });
      await expect(takeTurn(journal, keyOf('R-1'), 'server 1', 'default')).resolves.toMatchObject({ how: 'needless' });
      await take(journal, 'R-2');
      await expect(takeTurn(journal, keyOf('R-2'), 'server 1', 'default')).resolves.toMatchObject({ how: 'begun' });
      const ending = { run: 'run-1', by: 'provisionServers', outcome: 'done', report: {} } as const;
      await journal.ended(keyOf('R-1'), ending);
      await journal.ended(keyOf('R-2'), { ...ending, resource: 'server 1' });
      await expect(journal.db.deleteFrom('effect').execute()).rejects.toThrow('permission denied');
    });
    // What is of this release already is no matter of rights.
    expect((await run(asWorker, ['journal', 'migrate'])).out).toMatch(/nothing had to be done\n$/);
    expect((await run(asWorker, ['journal', 'restored', ...saidThere, '--new-references', 'trust'])).status).toBe(0);
  });

  it('says nothing at all is given up within seconds', async () => {
    const silent = createServer();
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const startedMs = performance.now();
    const { status, err } = await run(`postgres://someone@127.0.0.1:${port}/journal`, ['journal', 'status']);
    silent.close();
    expect(status).toBe(3);
    expect(err).toMatch(/its database did not answer in time/);
    expect(performance.now() - startedMs).toBeLessThan(10_000);
  });

  it('is away is told so in one line', async () => {
    const gone = await runApart('postgres://someone:SecretWord@127.0.0.1:1/journal', ['record', 'R-1', '--json']);
    expect(gone.status).toBe(3);
    expect(gone.err).toBe(
      'the journal cannot be used: no database answers at its address (postgres://127.0.0.1:1/journal). JOURNAL_URL says where it is\n',
    );
    expect(documentIn(gone)).toMatchObject({ error: { name: 'JournalUnavailable' } });
  });
});

describe('settings', () => {
  it('that are wrong are told by name, and the address is not', async () => {
    const { status, out, err } = await run('mysql://someone:SecretWord@host/db', ['record', 'R-1']);
    expect({ status, out }).toEqual({ status: 2, out: '' });
    expect(err).toMatch(/JOURNAL_URL: must be postgres:.* or file:/);
    expect(err).not.toContain('SecretWord');
  });

  itInWays('without any are this user’s own file', async () => {
    const environment = { XDG_STATE_HOME: join(folder, 'state') };
    const { status, out } = await runCommand(['journal', 'migrate', '--json'], environment);
    expect(status).toBe(0);
    expect(documentIn({ status, out, err: '' })).toMatchObject({
      journal: `file:${folder}/state/order-saga/journal.db`,
    });
  });
});

describe('a file', () => {
  it('that is not there is not made by whoever asks', async () => {
    const url = await places.file();
    for (const args of ['record R-1', 'journal status', `journal restored ${words} --new-references ask`]) {
      const { status, err } = await run(url, args.split(' '));
      expect({ status, err }).toEqual({
        status: 3,
        err: `the journal cannot be used: there is no such file (${url}). JOURNAL_URL says where it is\n`,
      });
    }
  });

  it('that is something else is told so', async () => {
    const path = join(folder, 'something-else');
    writeFileSync(path, 'this is no database, and longer than the header of one would be.'.repeat(20));
    const { status, err } = await run(`file:${path}`, ['journal', 'status']);
    expect(status).toBe(3);
    expect(err).toMatch(/its file is damaged, or is not a journal/);
  });

  itInWays('that is a folder is told so', async () => {
    const { status, err } = await runApart(`file:${folder}`, ['journal', 'status']);
    expect(status).toBe(3);
    expect(err).toMatch(/its file cannot be opened/);
  });
});
