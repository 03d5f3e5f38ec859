/**
 * Who has a reference: a run takes it, begins under it, and ends. The last begin owns it, and its number fences the calls of
 * earlier ones.
 */
import { sql } from 'kysely';
import { nowMs } from './database/dialects';
import { type Db, type EndingRow, ofSaga, type Reference, type SagaKey, touched, type Tx } from './rows';

/** A begin of a run, by its number: as it stands in `owner`. */
export const beginOf = (run: string, fence: number | undefined) => `${run}/${fence ?? 0}`;

export interface Begin {
  run: string;
  /** The run came from a reset. */
  isReset?: boolean | undefined;
  /** A clean-up begins: the saga's runs, and whether it is open, stay as they are. */
  cleans?: boolean | undefined;
  /** The begin that the run knows: nothing is changed where there was another one since, or the journal was restored. */
  renews?: { epoch: number; fence?: number | undefined } | undefined;
}

/**
 * From here on the reference is open for this run, and only this begin of it may intend calls. A call of an earlier one
 * that stood still, and would be intended now, is refused.
 *
 * A begin that renews number n gets n + 1, and may be made twice, because its answer may be lost. Any other begin gets
 * n + 2: else a renewal that is made again would take that begin for its own.
 *
 * Ended stays ended: a reference with an ending is not owned again, but by a run that came from a reset and was never
 * seen. A second start, and a run that a restored Temporal has gone back to, are none.
 *
 * @returns the number of the begin; undefined where there was another one since, the reference has ended, or it is not
 * known
 */
export async function own(tx: Tx, key: SagaKey, by: Begin): Promise<number | undefined> {
  const { run, isReset = false, cleans = false, renews } = by;
  const { epoch = 0, fence = 0 } = renews ?? {};
  // The run that begins is the last one from then on, also one that a restored Temporal has gone back to.
  const runs = sql<string>`replace(runs, ${` ${run} `}, ' ') || ${`${run} `}`;
  const number = renews ? sql<number>`cast(${fence + 1} as integer)` : sql<number>`fence + 2`;
  const opens = cleans ? sql`` : sql`, is_open = 1, ended = null, runs = ${runs}`;
  const mayBegin = cleans ? sql`` : sql`and not ${hasEndedFor({ run, isReset })}`;
  const knows = sql`and (fence = ${fence} or owner = ${beginOf(run, fence + 1)})
    and exists (select 1 from journal where epoch = ${epoch})`;
  const { rows } = await sql<Pick<Reference, 'fence'>>`update reference
    set touched_ms = ${touched(tx)}, fence = ${number}, owner = cast(${`${run}/`} as text) || (${number}) ${opens}
    where ${ofSaga(key)} ${mayBegin} ${renews ? knows : sql``} returning fence`.execute(tx);
  return rows[0]?.fence;
}

/** No begin owns the reference any more: nothing is intended under it until a run has begun again. */
export async function disown(tx: Tx, key: SagaKey): Promise<void> {
  await sql`update reference set owner = null, fence = fence + 1 where ${ofSaga(key)}`.execute(tx);
}

/** For a row of `reference`: it has ended, and that counts. */
const hasEnded = sql<boolean>`(ended is not null and exists (select 1 from journal where epoch = ended and restored_ms is null))`;

/**
 * For a row of `reference` that ends now: in which epoch. One from before the journal was restored has ended where its fate
 * in the lost time is known.
 */
const endsIn = sql<number>`(select epoch from journal where epoch = reference.epoch or exists (select 1 from effect
  where effect.workflow = reference.workflow and effect.reference = reference.reference
    and kind = 'pivot' and effect.epoch = journal.epoch and outcome <> 'unknown'))`;

/** Something was learnt of the pivot: an ending that was told before does not count any more. */
export async function forgetEnding(tx: Tx, key: SagaKey): Promise<void> {
  await sql`update reference set ended = null where ${ofSaga(key)} and ended is not null`.execute(tx);
}

/** A run that came from a reset, and was never seen, goes on all the same. */
const hasEndedFor = ({ run, isReset }: Pick<Begin, 'run' | 'isReset'>) =>
  isReset ? sql<boolean>`(${hasEnded} and runs like ${anywhere(run)})` : hasEnded;

/** How a reference has ended, where it has for this run. */
export async function endingOf(tx: Tx, key: SagaKey, by: Pick<Begin, 'run' | 'isReset'>) {
  const { rows } = await sql<Pick<EndingRow, 'run' | 'ended_ms' | 'report'>>`
    select last.run, last.ended_ms, last.report from reference join ending as last using (workflow, reference)
      where ${ofSaga(key)} and last.ended_by = workflow and runs like '% ' || last.run || ' ' and ${hasEndedFor(by)}`.execute(
    tx,
  );
  return rows[0];
}

const anywhere = (run: string) => `% ${run} %`;

/**
 * Closes the reference, unless a later run has begun: the ending of a run that was reset may be written late. A run that
 * was not seen before is later than all others. The reference is locked: whether it has ended is read in other rows.
 *
 * @returns undefined, and nothing is changed, where the reference has ended, or is not known
 */
export async function closeByRun(
  tx: Tx,
  key: SagaKey,
  by: Pick<Begin, 'run' | 'isReset'>,
): Promise<{ isLast: boolean } | undefined> {
  const { run } = by;
  const runs = sql<string>`case when runs like ${anywhere(run)} then runs else runs || ${`${run} `} end`;
  const isLater = sql<boolean>`runs like ${anywhere(run)} and runs not like ${`% ${run} `}`;
  const { rows } = await sql<Pick<Reference, 'runs'>>`update reference set runs = ${runs},
    is_open = case when ${isLater} then is_open end, owner = case when ${isLater} then owner end,
    ended = case when ${isLater} then ended else ${endsIn} end
    where ${ofSaga(key)} and not ${hasEndedFor(by)} returning runs`.execute(tx);
  return rows[0] && { isLast: rows[0].runs.endsWith(` ${run} `) };
}

/** Closes the reference of a saga that a clean-up has put in order, unless a run of it has begun since. */
export async function closeCleaned(tx: Tx, key: SagaKey, run: string): Promise<void> {
  await sql`update reference set is_open = null, owner = null
    where ${ofSaga(key)} and owner like ${`${run}/%`}`.execute(tx);
}

/**
 * Takes a new reference, in one statement.
 *
 * @param epoch the journal's, where it is not said otherwise
 * @returns undefined where it was taken before
 */
export async function takeAtOnce(
  db: Db,
  { workflow, reference, account, request }: SagaKey & Pick<Reference, 'account' | 'request'>,
  run: string,
  epoch?: number,
): Promise<{ journal: string; epoch: number } | undefined> {
  const epochOfIt =
    epoch === undefined ? sql`case when doubts_new = 1 then 0 else epoch end` : sql`cast(${epoch} as bigint)`;
  const { rows } = await sql<{ journal: string; epoch: number }>`
    insert into reference
      (workflow, reference, account, request, first_seen_ms, first_run, epoch, touched_ms, is_open, runs, fence, owner)
    select ${workflow}, ${reference}, ${account}, ${request}, ${nowMs(db)}, ${run},
      ${epochOfIt}, ${nowMs(db)}, 1, ${` ${run} `}, 1, ${beginOf(run, 1)}
    from journal where true
    on conflict (workflow, reference) do nothing
    returning (select id from journal) as journal, (select epoch from journal) as epoch`.execute(db);
  return rows[0];
}
