/** How the databases find what a call asks for among many rows: by an index; what was bought flows, page by page. */
import {
  CompiledQuery,
  sql,
  type KyselyPlugin,
  type PluginTransformQueryArgs,
  type PluginTransformResultArgs,
  type RootOperationNode,
} from 'kysely';
import File from 'libsql';
import { parseSpendLimits } from '../../../src/domain/spending';
import { openDatabase, type JournalAddress } from '../../../src/journal/database/dialects';
import { lookAtServer, statedFirewalls } from '../../../src/journal/views/firewalls';
import { Journal } from '../../../src/journal/journal';
import { bought, type BoughtFilter } from '../../../src/journal/purchases';
import { endedSagas, leftByLost, readState } from '../../../src/journal/read-state';
import { openJournal } from '../../../src/journal/open';
import type { SagaKey } from '../../../src/journal/rows';
import { isCancelled } from '../../../src/journal/servers';
import { close, openSagas } from '../../../src/journal/views/open-references';
import { dropTurn, takeTurn } from '../../../src/journal/turns';
import { createSealing } from '../../../src/security/sealing';
import { describeEachDatabase, numbersTo } from './databases';
import { add, assign, place, remove, Run, unassignOld } from './runs';

const rows = 20_000;
/** One for each reference. */
const pivots = 5_000;

/** The order of the account with a twentieth of all purchases. */
const boughtOften = { account: 'AB-1', items: [{ plan_id: 17 }] };

/** Keeps every question that the journal asks. */
class Recorder implements KyselyPlugin {
  readonly asked: RootOperationNode[] = [];

  transformQuery({ node }: PluginTransformQueryArgs): RootOperationNode {
    this.asked.push(node);
    return node;
  }

  transformResult({ result }: PluginTransformResultArgs): Promise<PluginTransformResultArgs['result']> {
    return Promise.resolve(result);
  }
}

describeEachDatabase('among 20,000 rows', ({ fresh }) => {
  const recorder = new Recorder();
  let address: JournalAddress;
  let plain: Journal;
  let journal: Journal;
  beforeAll(async () => {
    const sealing = createSealing(undefined);
    address = await fresh();
    plain = await openJournal(address, sealing);
    journal = new Journal(plain.db.withPlugin(recorder), sealing);
    const patient = openDatabase(address, { statementMs: 60_000 });
    await fill(patient);
    await patient.destroy();
  });
  afterAll(() => plain.close());

  const explain = async (question: string, parameters: unknown[]): Promise<unknown[]> => {
    if ('postgres' in address) {
      return (await plain.db.executeQuery(CompiledQuery.raw(`explain ${question}`, parameters))).rows;
    }
    // Not by way of Kysely, which takes the plan of a change for a change, and leaves it open.
    const file = new File(address.file);
    try {
      return file.prepare(`explain query plan ${question}`).all(parameters);
    } finally {
      file.close();
    }
  };

  /** The databases' plans for each question that was asked meanwhile, with the question itself. */
  const plansOf = async (work: () => Promise<unknown>): Promise<{ question: string; plan: string }[]> => {
    recorder.asked.length = 0;
    await work();
    const asked = [...recorder.asked];
    const plans = [];
    for (const node of asked) {
      const { sql: question, parameters } = plain.db.getExecutor().compileQuery(node, { queryId: '' });
      // A part of another question, which was asked as well.
      if (/^[^w].*\bgate\d/.test(question)) continue;
      plans.push({ question, plan: JSON.stringify(await explain(question, [...parameters])) });
    }
    return plans;
  };

  const wide = ({ plan }: { plan: string }) => accesses(plan).filter((access) => !isNarrow(access));

  const calls: Record<string, () => Promise<unknown>> = {
    'a pivot is intended, denied, intended again and confirmed': async () => {
      const run = await Run.begin(journal);
      const { cursor } = await run.do(place(1, 2), 'unknown', {});
      await run.intend(place(1, 2));
      await letPassFor(plain, cursor.row);
      await run.deny(cursor.row);
      const again = await run.send(place(1, 2));
      await run.confirm(again.cursor.row);
      await run.intend(place(1, 2));
    },
    'an item is added, recalled and deleted': async () => {
      const run = await Run.begin(journal);
      await run.adds(7);
      await run.intend(add());
      await run.removes(7);
      await run.intend(remove(7));
      await run.intend(place(7));
    },
    'firewalls are assigned, and others unassigned': async () => {
      const run = await Run.begin(journal);
      await run.do(assign);
      await run.intend(unassignOld);
    },
    'a server is looked at before what was done to it is undone': async () => {
      const run = await Run.begin(journal, 'setFirewalls');
      await run.do(assign);
      await lookAtServer(journal, run.key, assign.about.vmObjectId!, { withOthers: true });
    },
    'a purchase is held against those of before': async () => {
      const run = new Run(journal, { workflow: 'provisionServers', reference: 'buyer' });
      await run.take(boughtOften, boughtOften.account);
      const rules = { duplicateWithinMs: 1_000, spendLimits: parseSpendLimits('*=1 servers/1m') };
      await run.do(place(1, 2), 'done', {}, { rules });
    },
    'a saga is queued, takes its turn and hands it on': async () => {
      const resource = 'server 1';
      const [first, second] = [await Run.begin(journal, 'setFirewalls'), await Run.begin(journal, 'setFirewalls')];
      for (const run of [first, second, first]) await takeTurn(journal, run.key, resource);
      const ended = await first.end('done', { resource });
      if (ended.how !== 'written') throw new Error(ended.how);
      await takeTurn(journal, second.key, resource);
      await dropTurn(journal, ended.next!);
    },
    'a turn is kept for a call that may be in flight': async () => {
      const resource = 'server 2';
      const [first, second] = [await Run.begin(journal, 'setFirewalls'), await Run.begin(journal, 'setFirewalls')];
      for (const run of [first, second]) await takeTurn(journal, run.key, resource);
      const { cursor } = await first.send(assign);
      await first.end('done', { resource });
      await takeTurn(journal, second.key, resource);
      await letPassFor(plain, cursor.row);
      await takeTurn(journal, second.key, resource);
    },
    'the open references are gone through': async () => {
      const run = await Run.begin(journal);
      await journal.begin(run.key, { run: run.run });
      const slice = async (after?: SagaKey) =>
        (await openSagas(journal, () => Promise.resolve(new Map()), { after, limit: 100 })).sagas;
      const [first] = await slice();
      await slice(first);
      await close(journal, first!);
      await run.again().take();
    },
    'a sweep goes through what has ended': async () => {
      const run = await Run.begin(journal);
      await run.end();
      await endedSagas(journal, { days: 1, after: undefined, limit: 50 });
      await endedSagas(journal, { days: 1, after: { ...run.key, firstSeenMs: Date.now() }, limit: 50 });
      await leftByLost(journal, [run.key]);
      await statedFirewalls(journal, 17);
      await isCancelled(journal, 17);
    },
    'a saga looks back and ends': async () => {
      const run = await Run.begin(journal);
      await run.again().take();
      await readState(journal, run.key, { inFlightMs: 60_000 });
      await run.end();
      await run.end();
    },
  };

  /** Many pages, and many of each moment: pages end among those. */
  it.each<[number, BoughtFilter]>([
    [pivots, {}],
    [pivots / 20, { account: 'ab-1' }],
    [600, { sinceMs: 7, untilMs: 9 }],
    [0, { fate: 'unknown' }],
  ])('each of %i purchases is told once, in the order of time: %j', async (count, filter) => {
    const seen = new Set<string>();
    let lastMs = 0;
    for await (const { reference, at } of bought(plain, filter)) {
      seen.add(reference);
      expect(Date.parse(at)).toBeGreaterThanOrEqual(lastMs);
      lastMs = Date.parse(at);
    }
    expect(seen.size).toBe(count);
  });

  it('who reads three purchases asks for one page', async () => {
    const asked = jest.spyOn(plain, 'read');
    const three = [];
    for await (const row of bought(plain, {})) if (three.push(row) === 3) break;
    expect(three).toHaveLength(3);
    expect(asked).toHaveBeenCalledTimes(1);
    asked.mockRestore();
  });

  it.each<[string, RegExp, BoughtFilter]>([
    ['by age', /pivot_by_age/, { sinceMs: Date.now() - 1_000 }],
    ['of an account', /purchase_by_account/, { account: 'AB-1' }],
    ['of unknown outcome', /pivot_by_fate/, { fate: 'unknown' }],
    ['of a server', /server_pk|sqlite_autoindex_server/, { vmObjectId: 17 }],
  ])('what was bought, %s: an index has it', async (_, index, filter) => {
    const [{ plan } = { plan: '' }] = await plansOf(() => bought(journal, filter).next());
    expect(plan).toMatch(index);
    expect(plan).not.toMatch(/Seq Scan on (effect|purchase|reference)|"SCAN (effect|purchase|reference)/);
  });

  it.each(Object.keys(calls))('%s: no table is read as a whole', async (what) => {
    const plans = await plansOf(calls[what]!);
    expect(plans.length).toBeGreaterThan(5);
    expect(plans.flatMap(wide)).toEqual([]);
    expect(plans.flatMap(({ plan }) => accesses(plan)).length).toBeGreaterThan(4);
    const locks = plans.filter(({ question }) => question.startsWith('update "reference"'));
    expect(locks).not.toEqual([]);
    // One that ends it reads the rows of its pivot, too.
    const alone = locks.filter(({ question }) => !question.includes('from effect'));
    for (const { plan } of alone) expect(accesses(plan)).toHaveLength(1);
  });
});

/** The tables with as many rows as there were calls; the journal's own table has one row. */
function accesses(plan: string): string[] {
  const scan = /((Scan|SCAN|SEARCH)( using \w+)?( on)? (reference|effect|ending|turn|purchase)\b.*)/;
  const steps = (JSON.parse(plan) as Record<string, unknown>[]).map((step) =>
    String(step['detail'] ?? step['QUERY PLAN']),
  );
  // PostgreSQL says by what it looks in the line after it.
  return steps.flatMap((step, index) => (scan.test(step) ? [`${step} ${steps[index + 1] ?? ''}`] : []));
}

/** By the whole key of a reference, by its place among what is open, or by a row's id. */
function isNarrow(access: string): boolean {
  return (
    /(\(workflow=\? AND reference=\?|resource=\?|vm_object_id=\?|first_seen_ms>\?|(same|account)=\? AND intended_ms>\?|\(id=\?\)|rowid=\?|\((cart_item_id|effect)=\?)|^SEARCH effect (SCALAR SUBQUERY \d+)?$|using open_reference on reference|USING INDEX open_reference /.test(
      access,
    ) ||
    /(Index|Recheck) Cond: \(.*(\breference = |\bresource = |\bvm_object_id = |\bfirst_seen_ms >= |\((same|account) = [^)]*\) AND \(intended_ms > |\bseq = |\bid = |\bcart_item_id = )/.test(
      access,
    )
  );
}

/** Effects in this number, four for each reference: three of steps and a pivot; three hundred in a moment. */
async function fill(db: Journal['db']): Promise<void> {
  const numbers = sql`(${numbersTo(db, rows)}) as numbers`;
  const perReference = sql`(${numbersTo(db, pivots)}) as numbers`;
  const of = sql.lit(pivots);
  for (const into of [
    sql`reference (workflow, reference, first_seen_ms, first_run, runs, epoch, touched_ms)
      select 'provisionServers', 'r' || n, 0, 'run', ' run ', 0, 0 from ${perReference}`,
    sql`effect (id, workflow, reference, step, kind, activity, run, about, cart_item_id, vm_object_id, epoch, intended_ms,
      in_flight_ms, outcome)
      select 'e' || n, 'provisionServers', 'r' || (1 + n % ${of}), 'step-' || (n % 7),
        case when n <= ${of} then 'pivot' else 'mutate' end, 'any', 'run', '{}', n, n, 0, n / 300, 0, 'done'
      from ${numbers}`,
    sql`ending (workflow, reference, run, ended_by, ended_ms, outcome, report, resource)
      select workflow, reference, 'run', workflow, 0, 'done', '', 'server ' || reference from reference`,
    sql`purchase (effect, account, same, servers, items, intended_ms)
      select 'e' || n, 'AB-' || (n % 20), 's' || (n % 20), 1, 1, n / 300 from ${numbers}`,
    sql`server (vm_object_id, workflow, reference, seen_ms, firewalls)
      select 100000 + n, 'provisionServers', 'r' || n, 0, '[]' from ${perReference}`,
    sql`turn (id, resource, workflow, reference, since_ms)
      select 't' || n, 'server ' || (100 + n % 50), 'setFirewalls', 't' || n, 0 from ${numbers}`,
  ])
    await sql`insert into ${into}`.execute(db);
  await sql.raw('analyze').execute(db);
}

async function letPassFor({ db }: Journal, row: string): Promise<void> {
  await db.updateTable('effect').set({ intended_ms: 0 }).where('id', '=', row).execute();
}
