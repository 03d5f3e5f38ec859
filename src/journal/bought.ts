/**
 * What was bought, over all references: for people who ask who bought what, when, and for how much. Limits and
 * duplicates, which are asked before a purchase, stand in purchases.ts.
 */
import { sql } from 'kysely';
import type { RecordedEnding } from '../domain/record';
import type { Metadata } from '../domain/requests';
import { accountName, type WorkflowName } from '../domain/identity';
import type { Fate } from '../domain/spending';
import { isPostgres } from './dialects';
import type { Store } from './store';
import { type Db, iso, present } from './rows';
import { unnamed } from './servers';

export interface BoughtFilter {
  account?: string | undefined;
  /** Milliseconds since 1970, of when it was sent; the second one is not in it. */
  sinceMs?: number | undefined;
  untilMs?: number | undefined;
  fate?: Fate | undefined;
  vmObjectId?: number | undefined;
}

export interface Bought {
  at: string;
  workflow: WorkflowName;
  reference: string;
  account?: string;
  fate: Fate;
  /** How many were ordered. */
  servers?: number;
  items?: number;
  vmObjectIds: number[];
  /** The quote's. The provider quotes no order: of one it is the estimate of the operator's price list, if there is one. */
  total?: number;
  currency?: string;
  isEstimate?: true;
  /** The request's own words about it. */
  metadata: Metadata;
  /** Who has approved it, or confirmed what became of it. */
  by: string[];
  /** How the saga has ended; absent while it goes on, and where that cannot be decrypted. */
  ended?: NonNullable<RecordedEnding['ended']>;
}

/** The index `pivot_by_fate` has the same words. */
const fateOf = sql<Fate>`case when cancelled_ms is not null then 'cancelled'
  when outcome = 'done' or late is not null then 'placed' when outcome is null or outcome = 'unknown' then 'unknown'
  else 'not-placed' end`;

const pageMax = 200;

/** The oldest first, page by page: whoever reads no more ends it. */
export async function* bought(journal: Store, filter: BoughtFilter): AsyncGenerator<Bought> {
  const pageAfter = (after?: After) => journal.read((db) => pageOf(db, filter, after));
  for (let page = await pageAfter(); ; page = await pageAfter(page.at(-1))) {
    for (const row of page) yield await described(journal, row);
    if (page.length < pageMax) return;
  }
}

/** The last row of the page before. */
interface After {
  age_ms: number;
  id: string;
}

function pageOf(db: Db, filter: BoughtFilter, after: After | undefined) {
  const { account, sinceMs = 0, untilMs, fate, vmObjectId } = filter;
  // The index of an account has the purchase's own columns.
  const [age, id] =
    account === undefined
      ? [sql<number>`effect.meant_ms`, sql<string>`effect.id`]
      : [sql<number>`purchase.meant_ms`, sql<string>`purchase.effect`];
  const ids = isPostgres(db) ? sql`string_agg(vm_object_id::text, ',')` : sql`group_concat(vm_object_id)`;
  return db
    .selectFrom('effect')
    .leftJoin('purchase', 'purchase.effect', 'effect.id')
    .innerJoin('reference', (join) =>
      join.onRef('reference.workflow', '=', 'effect.workflow').onRef('reference.reference', '=', 'effect.reference'),
    )
    .select(['effect.id', 'effect.workflow', 'effect.reference', 'effect.decided'])
    .select([
      'reference.account',
      'reference.request',
      'purchase.servers',
      'purchase.items',
      'purchase.estimate',
      age.as('age_ms'),
    ])
    .select([
      sql<number | null>`coalesce(purchase.total, purchase.estimate)`.as('total'),
      sql<string | null>`coalesce(purchase.estimated_in, purchase.currency)`.as('currency'),
    ])
    .select([
      fateOf.as('fate'),
      sql<string | null>`(select ${ids} from server where server.workflow = effect.workflow
        and server.reference = effect.reference and vm_object_id <> ${unnamed})`.as('ids'),
      sql<string | null>`(select report from ending where ending.workflow = effect.workflow
        and ending.reference = effect.reference and ended_by = ending.workflow
        order by ended_ms desc limit 1)`.as('report'),
    ])
    .where('effect.kind', '=', 'pivot')
    .where(age, '>=', sinceMs)
    .$if(untilMs !== undefined, (rows) => rows.where(age, '<', untilMs ?? 0))
    .$if(account !== undefined, (rows) => rows.where('purchase.account', '=', accountName(account ?? '')))
    .$if(fate !== undefined, (rows) => rows.where(fateOf, '=', fate ?? 'placed'))
    .$if(vmObjectId !== undefined, (rows) =>
      rows.where(
        sql<boolean>`(effect.workflow, effect.reference) in
          (select workflow, reference from server where vm_object_id = ${vmObjectId ?? unnamed})`,
      ),
    )
    .$if(after !== undefined, (rows) =>
      rows.where(sql<boolean>`(${age}, ${id}) > (${after?.age_ms ?? 0}, ${after?.id ?? ''})`),
    )
    .orderBy(age)
    .orderBy(id)
    .limit(pageMax)
    .execute();
}

async function described(journal: Store, row: Awaited<ReturnType<typeof pageOf>>[number]): Promise<Bought> {
  const { workflow, reference, fate, ids, total, currency, estimate, servers, items, account } = row;
  const read = async (sealed: string | null) => {
    if (sealed === null) return undefined;
    // What cannot be decrypted here is not known here; the rest is.
    return journal.unseal(sealed, 'what is known of a purchase').catch(() => undefined);
  };
  const ending = (await read(row.report)) as Pick<RecordedEnding, 'ended' | 'report'> | undefined;
  const verdict = (await read(row.decided)) as { by?: string } | undefined;
  const { metadata = {} } = ((await read(row.request)) ?? {}) as { metadata?: Metadata };
  const approvals = (ending?.report?.decisions ?? []).filter(({ decision }) => decision === 'approve');
  const by = [...approvals, ...(verdict ? [verdict] : [])].flatMap(({ by: who }) => (who === undefined ? [] : [who]));
  return {
    ...{ at: iso(row.age_ms), workflow, reference, fate },
    ...present({ account, currency, total, servers, items, ended: ending?.ended }),
    ...(estimate === null ? {} : { isEstimate: true }),
    vmObjectIds: ids === null ? [] : ids.split(',').map(Number),
    ...{ metadata, by: [...new Set(by)] },
  };
}
