/**
 * People's approvals of a pivot: each names the terms that it agreed to and until when it holds, and is used up by one
 * intended pivot. So a run that begins again asks nobody twice.
 *
 * ```text
 *   approved ──a pivot is intended with it──▶ used ──that one was surely not done──▶ approved
 *       └── too old · corrected to other terms · a pivot since that a person said was not placed ──▶ void
 * ```
 */
import { sql } from 'kysely';
import type { Quote } from '../domain/quotes';
import type { ReviewReason } from '../domain/spending';
import { nowMs } from './database/dialects';
import { unlessUnreadable } from './database/errors';
import { type Db, ofSaga, type SagaKey, type Tx } from './rows';
import type { Store } from './store';

export interface Approval {
  concern: ReviewReason;
  /** As the person saw it. */
  quote?: Quote | undefined;
  by: string;
  note?: string | undefined;
}

/**
 * A second call changes nothing. A journal that does not know the reference is none that the saga began with: the pivot
 * says so, and is asked about anew.
 */
export async function writeApproval(
  journal: Store,
  key: SagaKey,
  approval: Approval,
  { holdsMs }: { holdsMs: number },
): Promise<void> {
  const { concern } = approval;
  const { total = null, currency = null } = concern.kind === 'approval' ? concern.terms : {};
  const said = await journal.sealing.seal(approval);
  await journal.locked(key, async (tx, taken) => {
    if (taken === undefined) return;
    const at_ms = nowMs(tx);
    const row = { ...key, id: concern.id, same: concern.same, total, currency, said, at_ms };
    await tx
      .insertInto('approval')
      .values({ ...row, until_ms: sql<number>`${at_ms} + ${holdsMs}` })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute();
  });
}

/** Those that hold now, and that no pivot has used. One that cannot be read is none. */
interface Approvals {
  ids: string[];
  concerns: ReviewReason[];
}

/** @param same digests of what is bought now */
export async function approvalsOf(
  journal: Pick<Store, 'unseal'>,
  db: Db,
  key: SagaKey,
  same: readonly string[],
): Promise<Approvals> {
  const { rows } = await sql<{ id: string; said: string }>`
    select id, said from approval where ${ofSaga(key)} and same in (${sql.join(same)}) and until_ms > ${nowMs(db)}
      and not exists (select 1 from approval_use where approval_use.approval = approval.id)
      and not exists (select 1 from effect where effect.workflow = approval.workflow
        and effect.reference = approval.reference and kind = 'pivot' and outcome = 'denied' and decided_ms >= at_ms)
      order by seq`.execute(db);
  const found: Approvals = { ids: [], concerns: [] };
  for (const { id, said } of rows) {
    const read = await unlessUnreadable(journal.unseal(said, 'an approval'));
    if (read === undefined) continue;
    found.ids.push(id);
    found.concerns.push((read as Approval).concern);
  }
  return found;
}

/** Uses them up. The primary key refuses a second use. */
export async function useUp(tx: Tx, effect: string, { ids }: Approvals): Promise<void> {
  for (const approval of ids) await tx.insertInto('approval_use').values({ approval, effect }).execute();
}

/** The pivot was surely not done: its approvals are there again. */
export async function giveBack(tx: Tx, effect: string): Promise<void> {
  await tx.deleteFrom('approval_use').where('effect', '=', effect).execute();
}
