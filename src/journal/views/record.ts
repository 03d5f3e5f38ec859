/**
 * The journal's read side: the record of one reference, and counts of the whole journal. It only reads, so a standby is
 * enough.
 *
 * Values that cannot be decrypted are listed and left out; the rest is shown, because a missing key must not hide that
 * something was sent.
 */
import { sql } from 'kysely';
import type { Deed } from '../../domain/deeds';
import { workflowNames, type WorkflowName } from '../../domain/identity';
import type { Leftover } from '../../domain/outcomes';
import type { RecordedCorrection, RecordedEffect, RecordedEnding, SagaRecord } from '../../domain/record';
import type { DecisionRecord } from '../../domain/progress';
import { redact } from '../../domain/secrets';
import { JournalUnreadable } from '../database/errors';
import { inDoubt, whyRestored } from '../restore/recovery-gap';
import {
  aboutOf,
  correctionsOf,
  type Effect,
  effectsOf,
  isUnanswered,
  iso,
  type JournalRow,
  ofSaga,
  present,
  referenceOf,
  theJournal,
  type SagaKey,
} from '../rows';
import type { Store } from '../store';
import type { PurchaseTable } from '../database/schema';
import type { ServerCorrection } from '../correct-servers';
import { lacksSome, serversOf as idsOf, type ServerRow, unnamed } from '../servers';
import { type Made, stateOf, type State, type StateRow } from '../state';

/** The workflows that have used a reference. */
export async function workflowsOf(journal: Store, reference: string): Promise<WorkflowName[]> {
  // With the whole key, so that its index is used.
  const rows = await journal.rows(sql<Pick<SagaKey, 'workflow'>>`
    select workflow from reference where workflow in (${sql.join(workflowNames)}) and reference = ${reference}`);
  return rows.map(({ workflow }) => workflow);
}

/** @returns undefined where the reference was never taken. */
export async function recordOf(journal: Store, key: SagaKey): Promise<SagaRecord | undefined> {
  const rows = await readRows(journal, key);
  const { taken, from } = rows;
  if (taken === undefined) return undefined;
  const open = new Unsealer(journal);

  const request = await open.value(taken.request, 'request');
  const corrections = await inOrder(rows.corrections, async ({ id, run, step, at_ms, correction }) => ({
    ...(await open.said<Partial<RecordedCorrection>>(correction, at_ms, `correction at ${step} (${id})`)),
    ...{ run, step },
  }));
  const purchaseOf = ({ id }: Effect) => rows.purchases.find(({ effect }) => effect === id);
  const effects = await inOrder(rows.effects, (row) => effectOf(row, purchaseOf(row), from, open));
  const endings = await inOrder(
    rows.endings,
    async ({ run, ended_by: workflow, ended_ms, outcome, report: sealed }) => {
      const { ended, report, result } = ((await open.value(sealed, `ending of run ${run}`)) ?? {}) as RecordedEnding;
      return { run, at: iso(ended_ms), workflow, report, outcome: outcome as RecordedEnding['outcome'], ended, result };
    },
  );
  const waits = await inOrder(
    rows.waits,
    async ({ question: id, kind, step, run, since_ms, asked, ended_ms, decision }) => ({
      ...{ id, kind, step, run, since: iso(since_ms) },
      asked: (await open.value(asked, `question ${id}`)) as string | undefined,
      endedAt: ended_ms === null ? undefined : iso(ended_ms),
      decision: (await open.value(decision, `decision on question ${id}`)) as DecisionRecord | undefined,
    }),
  );
  const approvals = await inOrder(rows.approvals, async ({ id, said, at_ms, until_ms, total, currency, effect }) => {
    const { by, note } = await open.said(said, at_ms, `approval ${id}`);
    return { id, at: iso(at_ms), by, note, ...present({ total, currency, usedBy: effect }), until: iso(until_ms) };
  });
  const deeds = await inOrder(rows.deeds, async ({ id, run, what, at_ms, said }) => ({
    ...{ run, what },
    ...(await open.said<Pick<Deed, 'identity' | 'principal' | 'reason' | 'name'>>(
      said,
      at_ms,
      `who has ${what} it (${id})`,
    )),
  }));
  const isClosed = rows.servers.filter(({ closed }) => closed !== null);
  const closed = await inOrder(isClosed, async ({ vm_object_id: id, closed, closed_ms }) => ({
    vmObjectId: idOf(id),
    ...(await open.said(closed, closed_ms ?? 0, `who closed server ${id}`)),
  }));
  const isCorrected = rows.servers.filter(({ corrected }) => corrected !== null);
  const serversCorrected = await inOrder(isCorrected, async ({ vm_object_id: id, corrected, left_ms, seen_ms }) => ({
    ...{ vmObjectId: id, isOwn: left_ms === null },
    ...(await open.said<ServerCorrection>(corrected, left_ms ?? seen_ms, `who corrected server ${id}`)),
  }));

  const done = stateOf(rows.effects);
  const placement = recordedPlacement(done, rows);
  // The outcome of a clean-up does not say what the saga bought.
  const ofSaga = endings.findLastIndex(({ workflow }) => workflow !== 'cleanCart');
  const last = endings[ofSaga];
  const state = taken.is_open === null ? endedAs(effects, endings, last) : 'open';
  const quote = quoteOf(effects, last);
  const told = endings.slice(Math.max(0, ofSaga)).flatMap(({ report }) => report?.leftovers ?? []);
  const left = told.filter((leftover) => isStillThere(leftover, effects, placement));
  const found = state === 'open' ? leftOpen(key, placement, done, rows.servers) : [];
  return {
    reference: key.reference,
    workflow: key.workflow,
    account: taken.account ?? undefined,
    firstSeen: { at: iso(taken.first_seen_ms), run: taken.first_run },
    request,
    corrections,
    state,
    placement,
    effects,
    endings,
    waits,
    approvals,
    deeds,
    // A person may have corrected what was told at the end.
    servers: unlessEmpty(serversOf(rows.own, isCorrected.length > 0 ? undefined : last)),
    ...{ total: quote?.total, currency: quote?.currency },
    decisions: decisionsOf(endings, waits),
    serversClosed: unlessEmpty(closed),
    serversCorrected: unlessEmpty(serversCorrected),
    leftovers: distinct([...left, ...found]),
    unreadable: unlessEmpty(open.unreadable),
    journal: { id: from.id, epoch: iso(from.epoch), at: iso(from.now) },
  };
}

function readRows(journal: Store, key: SagaKey) {
  return journal.read((db) =>
    // One snapshot, so that a run that ends meanwhile is not shown in part.
    db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(async (tx) => {
        const from = await theJournal(tx);
        const taken = await referenceOf(tx, key);
        const effects = await effectsOf(tx, key);
        const purchases = tx.selectFrom('purchase').innerJoin('effect', 'effect.id', 'purchase.effect');
        const isInDoubt = inDoubt({ taken, rows: effects }, from) !== undefined;
        return {
          ...{ from, taken, effects },
          isInDoubt: isInDoubt || whyRestored(from, journal.failover.how) !== undefined,
          corrections: await correctionsOf(tx, key),
          purchases: await purchases.selectAll('purchase').where(ofSaga(key)).execute(),
          waits: await tx.selectFrom('wait').selectAll().where(ofSaga(key)).orderBy('seq').execute(),
          deeds: await tx.selectFrom('deed').selectAll().where(ofSaga(key)).orderBy('at_ms').execute(),
          approvals: await tx
            .selectFrom('approval')
            .leftJoin('approval_use', 'approval_use.approval', 'approval.id')
            .selectAll('approval')
            .select('effect')
            .where(ofSaga(key))
            .orderBy('seq')
            .execute(),
          endings: await tx.selectFrom('ending').selectAll().where(ofSaga(key)).orderBy('ended_ms').execute(),
          servers: await tx.selectFrom('server').selectAll().where(ofSaga(key)).orderBy('vm_object_id').execute(),
          own: await idsOf(tx, key),
        };
      }),
  );
}

/** Decrypts values and blanks out their secrets; lists the values that it cannot decrypt. */
class Unsealer {
  readonly unreadable: { what: string; why: string }[] = [];

  constructor(private readonly journal: Store) {}

  /** @returns undefined where there is none, and where it cannot be decrypted */
  async value(sealed: string | null, what: string): Promise<unknown> {
    if (sealed === null) return undefined;
    try {
      return redact(await this.journal.unseal(sealed, what));
    } catch (error) {
      if (!(error instanceof JournalUnreadable)) throw error;
      const { cause } = error;
      // The message of any other error may quote the value.
      const isNamed = cause instanceof Error && cause.name === 'DecryptionError';
      this.unreadable.push({ what, why: isNamed ? cause.message : 'it was altered' });
      return undefined;
    }
  }

  /** What a person has said, and when. */
  async said<Said = Pick<RecordedCorrection, 'by' | 'note'>>(
    sealed: string | null,
    ms: number,
    what: string,
  ): Promise<{ at: string } & Said> {
    return { at: iso(ms), ...((await this.value(sealed, what)) as Said) };
  }
}

/** One after the other, so that what cannot be read is listed in this order. */
async function inOrder<Row, Told>(rows: readonly Row[], tell: (row: Row) => Promise<Told>): Promise<Told[]> {
  const told: Told[] = [];
  for (const row of rows) told.push(await tell(row));
  return told;
}

async function effectOf(
  row: Effect,
  purchase: PurchaseTable | undefined,
  { raised_ms }: JournalRow,
  open: Unsealer,
): Promise<RecordedEffect> {
  const { id, step, kind, activity, run, outcome, cart_item_id: cartItemId } = row;
  const what = `${step} (${id})`;
  const note = await open.value(row.note, `what was sent as ${what}`);
  const answer = await open.value(row.answer, `answer of ${what}`);
  const said = (sealed: string | null, ms: number | null, how: string) =>
    ms === null ? undefined : open.said(sealed, ms, `${how} ${what}`);
  const decided = await said(row.decided, row.decided_ms, 'decision on');
  const cancelled = await said(row.cancelled, row.cancelled_ms, 'cancellation of');
  const late = await open.value(row.late, `late answer of ${what}`);
  return {
    ...{ id, step, kind, activity },
    about: { ...aboutOf(row), ...present({ cartItemId }) } as RecordedEffect['about'],
    note,
    bought: purchase && boughtOf(purchase),
    run,
    intendedAt: iso(row.intended_ms),
    answeredAt: row.answered_ms === null ? undefined : iso(row.answered_ms),
    outcome: outcome ?? 'intended',
    ...(isUnanswered(outcome) ? { inFlightUntil: iso(Math.max(row.intended_ms, raised_ms) + row.in_flight_ms) } : {}),
    ...present({ failure: row.failure, answer, undoneBy: row.undone_by }),
    decided,
    cancelled,
    late: row.late === null ? undefined : { answer: late },
  };
}

function boughtOf(row: PurchaseTable): NonNullable<RecordedEffect['bought']> {
  const { account, servers, items, total, currency, estimate, estimated_in: estimatedIn } = row;
  return present({ account, servers, items, total, currency, estimate, estimatedIn });
}

const idOf = (id: number) => (id === unnamed ? undefined : id);
const unlessEmpty = <T>(list: T[]) => (list.length > 0 ? list : undefined);

/** @param last of the saga's own runs */
function endedAs(
  effects: readonly RecordedEffect[],
  endings: readonly RecordedEnding[],
  last: RecordedEnding | undefined,
): SagaRecord['state'] {
  if (last === undefined) return 'open';
  const ended = new Set(endings.map(({ run }) => run));
  // A run was reset after its end, and has not ended again.
  return effects.some(({ run, intendedAt }) => intendedAt > last.at && !ended.has(run)) ? 'open' : last.outcome;
}

/** @param isInDoubt whether the journal was restored, and may have lost the pivot */
function recordedPlacement(
  { placement }: State<Effect>,
  { effects, isInDoubt }: { effects: readonly Effect[]; isInDoubt: boolean },
): SagaRecord['placement'] {
  if (placement === 'placed' || placement === 'cancelled') return placement;
  if (effects.some(({ kind, late }) => kind === 'pivot' && late !== null)) return 'placed';
  return isInDoubt ? 'unknown' : placement;
}

/** Each one once: the run tells the journal of it when it is taken, and again at its end. */
function decisionsOf(endings: readonly RecordedEnding[], waits: SagaRecord['waits']): DecisionRecord[] {
  const all = [
    ...endings.flatMap(({ report }) => report?.decisions ?? []),
    ...waits.flatMap(({ decision }) => decision ?? []),
  ];
  const byTime = new Map(all.map((one) => [`${one.at} ${one.decision} ${one.question ?? ''}`, one]));
  return [...byTime.values()].sort((one, other) => one.at.localeCompare(other.at));
}

type Servers = NonNullable<SagaRecord['servers']>;

/** @param own those that the journal has */
function serversOf(own: readonly number[], last: RecordedEnding | undefined): Servers {
  const { servers = [], ...changed } = (last?.result ?? {}) as { servers?: Servers } & Partial<Servers[number]>;
  if (servers.length > 0) return servers;
  const { vmObjectId, firewalls, verified } = changed;
  if (vmObjectId !== undefined) return [{ vmObjectId, firewalls, verified }];
  const ids = last?.report?.known['vmObjectIds'] ?? own;
  return Array.isArray(ids) ? ids.map((vmObjectId: number) => ({ vmObjectId })) : [];
}

function quoteOf(
  effects: readonly RecordedEffect[],
  last: RecordedEnding | undefined,
): { total: number; currency: string } | undefined {
  const placed = effects.find(({ kind, outcome }) => kind === 'pivot' && outcome === 'done');
  const switched = placed?.answer as { value?: { quote?: unknown } } | undefined;
  const result = last?.result as { quote?: unknown; finalQuote?: unknown } | undefined;
  const { known = {} } = last?.report ?? {};
  return [switched?.value?.quote, result?.finalQuote, result?.quote, known['finalQuote'], known['quote']].find(isQuote);
}

function isQuote(value: unknown): value is { total: number; currency: string } {
  const { total, currency } = (value ?? {}) as { total?: unknown; currency?: unknown };
  return typeof total === 'number' && typeof currency === 'string';
}

/** No other run, and no person, has dealt with the leftover of an ending since. */
function isStillThere(
  leftover: Leftover,
  effects: readonly RecordedEffect[],
  placement: SagaRecord['placement'],
): boolean {
  switch (leftover.kind) {
    case 'cart-item':
      return !effects.some(({ outcome, about }) => outcome === 'undone' && about.cartItemId === leftover.cartItemId);
    case 'placement-unknown':
      return placement === 'unknown';
    case 'server-unprotected':
      return placement !== 'cancelled';
    case 'cart-item-unknown':
    case 'firewalls':
    case 'server-unverified':
    case 'servers-miscounted':
      return true;
  }
}

function distinct(leftovers: readonly Leftover[]): Leftover[] {
  const firsts = new Map<string, Leftover>();
  for (const one of leftovers) {
    const { why: _why, ...what } = one;
    const identity = JSON.stringify(what);
    if (!firsts.has(identity)) firsts.set(identity, one);
  }
  return [...firsts.values()];
}

/**
 * Things that the calls of a saga without an ending have made, and not undone. If the saga still runs, it will use or
 * undo them; if it is lost, these are its leftovers, and no other report has them.
 */
function leftOpen(
  { workflow }: SagaKey,
  placement: SagaRecord['placement'],
  state: State<StateRow>,
  servers: readonly ServerRow[],
): Leftover[] {
  const perhaps = ({ isSure }: { isSure: boolean }) => (isSure ? '' : 'perhaps ');
  const item = ({ cartItemId }: Made, why: string): Leftover => ({ kind: 'cart-item', cartItemId, why });
  const doubtful = 'it may belong to an order, and nobody knows whether that order was placed';
  const unknown = 'the journal does not say whether it was placed';
  const open = 'and the saga has not ended';
  return [
    ...state.items.map((made) => item(made, `it was ${perhaps(made)}added, and not deleted`)),
    ...(placement === 'unknown' ? state.perhapsOrdered.map((made) => item(made, doubtful)) : []),
    ...state.doubtfulAdds.map((number): Leftover => {
      return { kind: 'cart-item-unknown', item: number, why: 'a call to add it ended without an answer' };
    }),
    ...(workflow === 'provisionServers'
      ? servers.filter(lacksSome).map(({ vm_object_id: id, firewalls: lacked }): Leftover => {
          const firewalls = JSON.parse(lacked) as number[];
          return {
            kind: 'server-unprotected',
            vmObjectId: idOf(id),
            firewalls,
            why: `they were not assigned, ${open}`,
          };
        })
      : state.firewalls.map(({ activity, vmObjectId, firewalls, isSure }): Leftover => {
          const what = activity === 'assignFirewalls' ? 'assigned' : 'unassigned';
          return { kind: 'firewalls', vmObjectId, firewalls, why: `${perhaps({ isSure })}${what}, ${open}` };
        })),
    ...(placement === 'unknown'
      ? [{ kind: 'placement-unknown' as const, step: state.pivot?.step ?? 'unknown', why: unknown }]
      : []),
  ];
}
