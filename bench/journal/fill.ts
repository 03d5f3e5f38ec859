/** A journal with so many rows, as sagas would have left them: written in bulk, beside the journal's own code. */
import { sql, type Kysely } from 'kysely';
import { isPostgres, openDatabase, type JournalAddress } from '../../src/journal/dialects';
import type { JournalTables } from '../../src/journal/schema';
import type { Sealing } from '../../src/journal/store';
import { provisionRequest } from '../requests';

/** An order of two items with a firewall: what each saga has left. */
const effects = [
  { step: 'add-item-1', kind: 'mutate', activity: 'addCartItem', about: { item: 1 } },
  { step: 'add-item-2', kind: 'mutate', activity: 'addCartItem', about: { item: 2 } },
  { step: 'place-order', kind: 'pivot', activity: 'placeOrder', about: { cartItems: [123_456, 123_457] } },
  { step: 'assign-firewall-1', kind: 'mutate', activity: 'assignFirewalls', about: { vmObjectId: 1, firewalls: [1] } },
  { step: 'assign-firewall-2', kind: 'mutate', activity: 'assignFirewalls', about: { vmObjectId: 2, firewalls: [1] } },
];

/** The first step of each, whose answer can be asked for again. */
export const [firstCall] = effects;

const referencesAtOnce = 100_000;
const patientStatementMs = 3_600_000;

/** Scattered over the index, and each of them once: the factor is odd. */
const spread = { factor: 2_654_435_761, modulus: 2 ** 32 };

/** The nth reference of a journal that was filled, from 1. */
export function filledReference(n: number): string {
  const { factor, modulus } = spread;
  return `B-${((BigInt(n) * BigInt(factor)) % BigInt(modulus)).toString(16).padStart(8, '0')}`;
}

export function referencesAmong(rows: number): number {
  return Math.ceil(rows / effects.length);
}

/** @param rows of effects; five for each reference */
export async function fillJournal(
  address: JournalAddress,
  sealing: Sealing,
  rows: number,
  say: (done: number) => void,
): Promise<void> {
  const db = openDatabase(address, { statementMs: patientStatementMs });
  const texts = {
    request: await sealing.seal(provisionRequest({ items: 2, firewalls: true })),
    answer: await sealing.seal({ cartItemId: 123_456, message: 'added' }),
  };
  try {
    await db.connection().execute(async (one) => {
      // Nobody else is there, and what is lost can be filled again.
      if (isPostgres(one)) await sql`set session_replication_role = replica`.execute(one);
      else await sql.raw('pragma cache_size = -2000000').execute(one);
      const rebuild = await dropIndexes(one);
      const references = referencesAmong(rows);
      for (let from = 1; from <= references; from += referencesAtOnce) {
        const to = Math.min(references, from + referencesAtOnce - 1);
        await fillSome(one, from, to, texts);
        say(to * effects.length);
      }
      for (const statement of rebuild) await sql.raw(statement).execute(one);
      await sql.raw(isPostgres(one) ? 'vacuum analyze' : 'analyze').execute(one);
      await sql.raw(isPostgres(one) ? 'checkpoint' : 'pragma wal_checkpoint(truncate)').execute(one);
    });
  } finally {
    await db.destroy();
  }
}

/**
 * Those that no constraint needs, since they are made sooner when all the rows are there.
 *
 * @returns the statements that make them again
 */
async function dropIndexes(db: Kysely<JournalTables>): Promise<string[]> {
  const { rows } = await (
    isPostgres(db)
      ? sql<Index>`select indexname as name, indexdef as statement from pg_indexes
        where schemaname = current_schema and tablename = 'effect' and not exists
          (select from pg_constraint where conindid = indexname::regclass)`
      : sql<Index>`select name, sql as statement from sqlite_master
        where type = 'index' and tbl_name = 'effect' and sql is not null`
  ).execute(db);
  for (const { name } of rows) await sql`drop index ${sql.id(name)}`.execute(db);
  return rows.map(({ statement }) => statement);
}

interface Index {
  name: string;
  statement: string;
}

interface Texts {
  request: string;
  answer: string;
}

async function fillSome(db: Kysely<JournalTables>, from: number, to: number, { request, answer }: Texts) {
  const [first, last] = [sql.lit(from), sql.lit(to)];
  const product = sql.raw(`n * ${spread.factor} % ${spread.modulus}`);
  const dialect = isPostgres(db)
    ? {
        numbers: sql`select n from generate_series(${first}::bigint, ${last}::bigint) as series (n)`,
        reference: sql`'B-' || lpad(to_hex(${product}), 8, '0')`,
        uuid: sql`gen_random_uuid()::text`,
      }
    : {
        numbers: sql`select ${first} union all select n + 1 from numbers where n < ${last}`,
        reference: sql`'B-' || printf('%08x', ${product})`,
        uuid: sql`lower(hex(randomblob(18)))`,
      };
  const { numbers, reference, uuid } = dialect;
  const epoch = sql`(select epoch from journal)`;
  await sql`
    with recursive numbers (n) as (${numbers})
    insert into reference (workflow, reference, account, request, first_seen_ms, first_run, epoch, touched_ms)
      select 'provisionServers', ${reference}, 'AB-12345678', ${sql.lit(request)}, n, ${uuid}, ${epoch}, n
      from numbers`.execute(db);
  const steps = effects.map(({ step, kind, activity, about }) => {
    return sql`(${sql.lit(step)}, ${sql.lit(kind)}, ${sql.lit(activity)}, ${sql.lit(JSON.stringify(about))})`;
  });
  await sql`
    with recursive numbers (n) as (${numbers}), steps (step, kind, activity, about) as (values ${sql.join(steps)})
    insert into effect (id, workflow, reference, step, kind, activity, run, about, cart_item_id, epoch, meant_ms, in_flight_ms, outcome,
        answered_ms, answer)
      select ${uuid}, 'provisionServers', ${reference}, step, kind, activity, ${uuid}, about,
        case when activity = 'addCartItem' then n end, ${epoch}, n, 60000, 'done', n, ${sql.lit(answer)}
      from numbers cross join steps`.execute(db);
}
