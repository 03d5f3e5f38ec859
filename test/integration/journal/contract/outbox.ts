import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Journal } from '../../../../src/journal/journal';
import {
  countNotices,
  deleteDelivered,
  leaseDue,
  markDelivered,
  markFailed,
  writeNotices,
  type Leased,
} from '../../../../src/journal/outbox';
import type { Notice } from '../../../../src/journal/outbox-rows';
import { dropNotices, listNotices, retryNotices } from '../../../../src/journal/undelivered';
import type { TestDatabases } from '../databases';
import { dayMs, Run, sharedJournal } from '../runs';
import { said } from '../../../support/operator';

export function outbox(databases: TestDatabases): void {
  let journal: Journal;
  sharedJournal(databases, (shared) => {
    journal = shared;
  });
  /** Each test has its own. */
  let namespace: string;
  beforeEach(() => {
    namespace = randomUUID();
  });

  const notice = (reference: string, changes: Partial<Notice> = {}): Notice => ({
    ...{ id: randomUUID(), route: 'ops', namespace, workflowId: `provision/${reference}`, reference },
    ...{ event: 'waiting', kind: 'stuck', account: 'AB-1', body: `sealed ${reference}` },
    ...changes,
  });
  const write = (...notices: Notice[]) => writeNotices(journal, notices);
  const lease = (route = 'ops', ways: { limit?: number; leaseMs?: number } = {}) =>
    leaseDue(journal, { namespace, route, limit: 10, leaseMs: 60_000, ...ways });
  const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);
  const only = (rows: Leased[]): Leased => {
    expect(rows).toHaveLength(1);
    return rows[0]!;
  };
  /** As if it were so much later. */
  const letPassOutbox = async (ms: number) => {
    await journal.db
      .updateTable('outbox')
      .set({
        ...{ next_ms: sql`next_ms - ${ms}`, created_ms: sql`created_ms - ${ms}`, since_ms: sql`since_ms - ${ms}` },
        delivered_ms: sql`delivered_ms - ${ms}`,
      })
      .where('namespace', '=', namespace)
      .execute();
  };

  it('has an event once for each route, however often it is written', async () => {
    const one = notice('A');
    await write(one, { ...one, route: 'boss' });
    await write({ ...one, body: 'other' });
    expect(await lease()).toMatchObject([{ id: one.id, body: one.body, attempts: 1 }]);
    expect(ids(await lease('boss'))).toEqual([one.id]);
    // Also once it was delivered.
    await markDelivered(journal, (await journalRow(one.id))!);
    await write(one);
    expect(await lease()).toEqual([]);
  });

  const journalRow = (id: string) =>
    journal.db.selectFrom('outbox').selectAll().where('id', '=', id).where('route', '=', 'ops').executeTakeFirst();

  it('gives out the first of each saga only, and the next when it is delivered or given up', async () => {
    const [first, second, third, other] = [notice('A'), notice('A'), notice('A'), notice('B')];
    await write(first, second, third, other);
    const leased = await lease();
    expect(ids(leased).sort()).toEqual([first.id, other.id].sort());
    expect(await lease()).toEqual([]);
    const mine = leased.find(({ id }) => id === first.id)!;
    await markFailed(journal, mine, { failure: 'answered 500', retryInMs: 60_000 });
    expect(await lease()).toEqual([]);
    await letPassOutbox(60_000);
    const again = (await lease()).find(({ id }) => id === first.id)!;
    expect(again.attempts).toBe(2);
    expect(again.triedMs).toBeGreaterThanOrEqual(60_000);
    await markDelivered(journal, again);
    const next = only((await lease()).filter(({ workflowId }) => workflowId === 'provision/A'));
    expect(next.id).toBe(second.id);
    await markFailed(journal, next, { failure: 'answered 500', retryInMs: undefined });
    expect(ids(await lease())).toEqual([third.id]);
  });

  it('keeps apart routes, namespaces and sagas', async () => {
    const mine = notice('A');
    const others = [notice('A', { route: 'boss' }), notice('A', { namespace: randomUUID() })];
    await write(...others, mine);
    expect(ids(await lease())).toEqual([mine.id]);
  });

  it('gives out again what was not delivered when the lease is over, and then the late one fails nothing', async () => {
    const one = notice('A');
    await write(one);
    const late = only(await lease('ops', { leaseMs: 5_000 }));
    expect(await lease()).toEqual([]);
    await letPassOutbox(5_000);
    const taken = only(await lease());
    expect(taken).toMatchObject({ id: one.id, attempts: 2 });
    await markFailed(journal, late, { failure: 'late', retryInMs: undefined });
    expect(await listNotices(journal, { ids: [one.id] }, 10)).toMatchObject([{ state: 'open' }]);
    // It was sent all the same.
    await markDelivered(journal, late);
    await markFailed(journal, taken, { failure: 'answered 500', retryInMs: undefined });
    expect(await listNotices(journal, { ids: [one.id] }, 10)).toEqual([]);
  });

  it('gives each row to one of many that ask at once', async () => {
    const all = Array.from({ length: 12 }, (_, n) => notice(`S-${n}`));
    await write(...all);
    const leased = await Promise.all([lease(), lease(), lease(), lease()]);
    expect(ids(leased.flat()).sort()).toEqual(ids(all).sort());
  });

  it('counts what is open and dead, lists it, has it tried again, and deletes it', async () => {
    const [dead, open, boss] = [notice('A'), notice('B'), notice('C', { route: 'boss' })];
    await write(dead, open, boss);
    for (const row of await lease()) {
      if (row.id === dead.id) await markFailed(journal, row, { failure: 'answered 500', retryInMs: undefined });
    }
    await letPassOutbox(90_000);
    const counts = await countNotices(journal, namespace);
    expect(counts).toMatchObject([
      { route: 'boss', open: 1, dead: 0 },
      { route: 'ops', open: 1, dead: 1 },
    ]);
    for (const { oldestMs } of counts) expect(oldestMs).toBeGreaterThanOrEqual(90_000);
    const mine = { ids: [dead.id, open.id] };
    expect(await listNotices(journal, { ...mine, dead: true }, 10)).toEqual([
      expect.objectContaining({
        ...{ id: dead.id, route: 'ops', workflowId: 'provision/A', state: 'dead', failure: 'answered 500' },
        ...{ attempts: 1, account: 'AB-1', kind: 'stuck', deadAt: expect.any(String) as string },
      }),
    ]);
    expect(ids(await listNotices(journal, mine, 10))).toEqual([dead.id, open.id]);
    expect(ids(await listNotices(journal, mine, 1))).toEqual([dead.id]);

    await expect(retryNotices(journal, { ids: [dead.id] })).resolves.toBe(1);
    expect((await lease()).find(({ id }) => id === dead.id)).toMatchObject({ attempts: 1 });
    await expect(dropNotices(journal, { ...mine, dead: true }, said)).resolves.toBe(0);
    await expect(dropNotices(journal, { ...mine, namespace: 'another' }, said)).resolves.toBe(0);
    await expect(dropNotices(journal, mine, said)).resolves.toBe(2);
    expect(await countNotices(journal, namespace)).toMatchObject([{ route: 'boss', open: 1 }]);
  });

  it('keeps what was delivered for some days, without its message', async () => {
    const [one, open] = [notice('A'), notice('B')];
    await write(one, open);
    for (const row of await lease()) if (row.id === one.id) await markDelivered(journal, row);
    await deleteDelivered(journal);
    expect(await journalRow(one.id)).toMatchObject({ body: '' });
    await letPassOutbox(4 * dayMs);
    await deleteDelivered(journal);
    expect(await journalRow(one.id)).toBeUndefined();
    expect(await journalRow(open.id)).toBeDefined();
  });

  it('has what goes with an ending where the ending is written, and not where it is not', async () => {
    const run = await Run.begin(journal);
    const [told, ended] = [notice(run.key.reference), notice(run.key.reference, { event: 'ended', kind: undefined })];
    await write(told);
    const ending = { run: run.run, by: run.key.workflow, outcome: 'done', report: {} };
    await expect(journal.ended(run.key, { ...ending, outcome: null as never, notices: [ended] })).rejects.toThrow();
    expect(await journalRow(ended.id)).toBeUndefined();
    await journal.ended(run.key, { ...ending, notices: [told, ended] });
    expect(ids(await listNotices(journal, { ids: [told.id, ended.id] }, 10))).toEqual([told.id, ended.id]);
  });
}
