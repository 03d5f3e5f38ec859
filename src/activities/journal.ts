/** A saga reads and writes the journal beside its effects. None of these calls the provider. */
import type { Begin } from '../journal/acquire';
import { Context, log } from '@temporalio/activity';
import { correctedBy } from '../domain/corrections';
import { differences } from '../domain/differences';
import type { JournalCursor, Placement, Unwritten } from '../domain/effects';
import { describeHolder } from '../domain/hold';
import { workflowIdOf } from '../domain/identity';
import { resultOutcomes, type Leftover } from '../domain/outcomes';
import { serversOrdered, type PlanTypes, type ServersOrdered } from '../domain/plan-types';
import type { ProvisionServersRequest, SetFirewallsRequest } from '../domain/requests';
import type { Milestone } from '../domain/progress';
import type { RecordedEnding } from '../domain/record';
import type { NotNow } from '../domain/spending';
import type { TurnAnswer } from '../domain/turns';
import { type Approval, approvalsOf, writeApproval } from '../journal/approvals';
import { type ByHand, writeByHand } from '../journal/by-hand';
import type { Corrected, Ended as PastEnding, Ending, Journal, Taking } from '../journal/journal';
import type { SagaKey } from '../journal/rows';
import { JournalUnavailable } from '../journal/database/errors';
import { whyNotNow } from '../journal/purchases';
import { recordOf } from '../journal/views/record';
import type { WantedFirewalls } from '../journal/database/schema';
import { claimServers, serversOf } from '../journal/servers';
import { writeWaits } from '../journal/people';
import { readState, type Asking, type PlacementFound, type StateRead as Read } from '../journal/read-state';
import type { Verdict } from '../journal/store';
import { type CallContext, type Caller, sagaOf } from './call';
import { notOwned, reportLate, underWay, type Tools } from './effect';
import { handOver, wantedEvents, type Notified } from './notifications';
import type { CallKind } from './settings';
import { lookAtRun, whoHolds } from './temporal';
import { keepDeeds } from './deeds';
import { OwnFailure } from './translate-failure';
import { askForTurn, wakeNextInQueue } from './turns';

export interface TakeReference extends CallContext {
  account?: string | undefined;
  request: unknown;
  /** Only one saga at a time may work on it, if there is such a resource. */
  resource?: string | undefined;
  /** The run's knowledge of the journal, if it takes the reference again. */
  cursor?: JournalCursor | undefined;
  /** The saga has a step that cannot be undone: what became of it is read. */
  hasPivot?: boolean;
  /** The run came from a reset. */
  isReset?: boolean;
}

/** A run that takes its reference gets these settings with it. */
interface Beside {
  turn?: TurnAnswer | undefined;
  /** Milestones that a receiver is notified of. */
  wanted?: Milestone[] | undefined;
  /** Why an order, with all corrections, might not be placed by what is known now. */
  notNow?: NotNow | undefined;
}

export type ReferenceTaken =
  | ({ how: 'new'; cursor: JournalCursor } & Beside)
  /** The same request was seen before: what was done is not done again. */
  | ({
      how: 'known';
      cursor: JournalCursor;
      at: string;
      run: string;
      /** Corrections by people, in order; absent where there are none. */
      corrections?: unknown[] | undefined;
      /** Absent where nothing was placed. */
      placement?: PlacementFound | undefined;
    } & Beside)
  | PastEnding
  /** New sagas are held, and this one is new: nothing was written. */
  | { how: 'held'; who: string }
  /** Another request has it. */
  | { how: 'taken'; at: string; run: string; fields: string[] };

export type { PastEnding, PlacementFound };

export interface ReadState extends Pick<Asking, 'cursor' | 'added'> {
  /** Of a run that has not taken its reference: it learns nothing of another request's. */
  request?: unknown;
  owns?: { isReset: boolean };
}

type WriteEnding = Pick<Ending, 'isReset' | 'outcome' | 'report' | 'resource' | 'keepOpen'> & Partial<Notified>;

/** `later`: another run has begun since, and receivers are not notified. */
type EndingWritten = PastEnding | { how: 'later' } | { how: 'written'; isTold: boolean };

export interface ReferenceState extends Omit<Read, 'from' | 'placement'> {
  /**
   * True where the reference belongs to another request than the one that looks: then nothing else is said, and nothing
   * was written.
   */
  isAnothers?: boolean;
  placement: PlacementFound;
  /**
   * By the request of an order that was placed, with all corrections; its servers, as far as the journal knows them. Absent
   * where the request is not known.
   */
  bought?: { ordered: ServersOrdered; vmObjectIds: number[] } | undefined;
  /**
   * Servers of the order that lack firewalls by the journal; absent where nothing was placed, and where the saga has an
   * ending. Looked up only for a clean-up.
   */
  unprotected?: Leftover[] | undefined;
  /** Only where `owns` is set: the run's begin. */
  cursor?: JournalCursor;
  /** Only where `owns` is set: another run had begun since this one did, so what this one has seen may not be so. */
  isAfterAnother?: boolean | undefined;
  /** Only where `owns` is set, and the reference has ended: then nothing else is said. */
  ended?: PastEnding;
}

/** A local activity holds a workflow task while it waits. So a journal that was away is not asked again for so long. */
const awayMs = 1_000;

type OfSaga = <I, T>(
  kind: CallKind,
  act: (input: I, by: Caller) => Promise<T>,
) => (input: I & CallContext) => Promise<T>;

export function createJournalActivities({ journal, settings, activity }: Tools) {
  let awayUntilMs = 0;
  const ofSaga: OfSaga = (kind, act) => activity(kind, (input) => act(input, sagaOf()));
  /** Makes a call in place fail at once where another one has just found the journal away: see `viaLocalActivity`. */
  const atHand: OfSaga = (kind, act) =>
    ofSaga(kind, async (input, by) => {
      if (Context.current().info.isLocal && performance.now() < awayUntilMs)
        throw new JournalUnavailable('it was away a moment ago');
      try {
        return await act(input, by);
      } catch (error) {
        if (error instanceof JournalUnavailable) awayUntilMs = performance.now() + awayMs;
        throw error;
      }
    });
  const standing = (saga: SagaKey, asking: Omit<Asking, 'inFlightMs' | 'rules'>) =>
    readState(journal, saga, { ...asking, inFlightMs: settings.inFlightMs, rules: settings });
  /**
   * So that a person is asked before anything is added. It decides nothing: the pivot asks again.
   *
   * @param first the request, where nobody can have corrected it
   */
  const notNow = async (saga: SagaKey, first?: unknown): Promise<NotNow | undefined> => {
    if (saga.workflow !== 'provisionServers') return undefined;
    const request = first ?? (await journal.correctedRequest(saga));
    const bought = request === undefined ? undefined : journal.buying(saga.workflow, request, settings);
    if (bought === undefined || whyNotNow(bought, settings) === undefined) return undefined;
    const approvals = await journal.read((db) => approvalsOf(journal, db, saga, bought.agreed));
    return whyNotNow(bought, settings, approvals.concerns);
  };
  return {
    /**
     * The first thing that a saga does, before any call. A reference is taken for ever; a second call finds what the
     * first one took, and keeps the saga's place in its queue.
     * Takes nothing while new sagas are held, and this one is new: a reference that was taken before has begun. Fails
     * as {@link readState} where it was taken before, and has a pivot. One that has ended is not taken again.
     */
    takeReference: atHand('read', async (input: TakeReference, by): Promise<ReferenceTaken> => {
      const { saga, run } = by;
      const hold = await whoHolds();
      if (hold && !(await journal.isTaken(saga))) return { how: 'held', who: describeHolder(hold) };
      const { account, request, resource, cursor: before, hasPivot, isReset } = input;
      const begun = await takeOrBegin(journal, by, { account, request, cursor: before }, { isReset });
      if (begun.how === 'taken' || begun.how === 'ended') return begun;
      const { first, cursor } = begun;
      // Once the reference is owned, so that no call of before is intended after it.
      const placement = first && hasPivot ? placementOf(await standing(saga, { cursor: before, run })) : undefined;
      const wanted = wantedEvents(settings, account);
      const also = {
        turn: resource === undefined ? undefined : await askForTurn(journal, saga, resource, settings),
        notNow: await notNow(saga, first === undefined ? request : undefined),
        wanted: wanted.length > 0 ? wanted : undefined,
      };
      if (first === undefined) return { how: 'new', cursor, ...also };
      // One that comes later is found where the pivot is intended.
      const corrections = await journal.corrections(saga);
      return {
        ...{ how: 'known', at: first.at, run: first.run },
        cursor,
        corrections: corrections.length > 0 ? corrections : undefined,
        placement: placement?.how === 'none' ? undefined : placement,
        ...also,
      };
    }),

    /** A second call keeps the place in the queue, or the turn. */
    takeTurn: ofSaga('read', ({ resource }: { resource: string }, { saga }) =>
      askForTurn(journal, saga, resource, settings),
    ),

    /**
     * Owns the reference anew, after a call was lost, or in a run that was reset: whatever was not intended by now is never
     * intended. Fails with `StateChanged` where another run has begun since.
     */
    renewReference: ofSaga('read', async ({ cursor, isReset }: { cursor: JournalCursor; isReset: boolean }, by) => {
      const begun = await beginAs(journal, by, { isReset, renews: cursor });
      if (begun.how === 'ended') return begun;
      if (begun.how !== 'begun') throw new OwnFailure('StateChanged', `${notOwned}; nothing was sent`);
      return { ...cursor, fence: begun.number };
    }),

    /**
     * Writes a correction of the request, by a person or by the request itself, for this run and every later one of the reference. A second call
     * changes nothing, and neither does a call after the pivot was placed, or may have been.
     */
    writeCorrection: ofSaga(
      'mutate',
      async ({ retry: _, ...said }: CallContext & Omit<Corrected, 'run'>, { saga, run }) => {
        const how = await journal.correct(saga, { ...said, run });
        return { how, notNow: await notNow(saga) };
      },
    ),

    /** Looks whether the request, so corrected, would be refused at the prices of now. Writes nothing. @returns why */
    judgeCorrection: ofSaga('read', async ({ correction }: { correction: unknown }, { saga }) => {
      const first = await journal.firstRequest(saga);
      const corrections = [...(await journal.corrections(saga)), correction];
      const judged = await notNow(saga, first && correctedBy(corrections, saga.workflow, first));
      return judged && judged.how !== 'asks' ? judged.why : undefined;
    }),

    /** Writes a person's yes before a pivot, with the terms that the person read. A second call changes nothing. */
    writeApproval: ofSaga('mutate', ({ retry: _, ...approval }: CallContext & Approval, { saga }) =>
      writeApproval(journal, saga, approval, { holdsMs: settings.approvalMaxAgeMs }),
    ),

    /**
     * Reads from the journal what the saga has done at the provider. Fails with `UnderWay`, and must be called again,
     * while the pivot may be in flight; with `JournalRestored` while the journal is an older copy, until an operator
     * confirms that. Where `owns` is set, the run begins, as one that ends. A clean-up is refused while the saga runs.
     */
    readState: ofSaga('read', async (input: ReadState, by): Promise<ReferenceState> => {
      const { saga } = by;
      const { cursor, added, request, owns } = input;
      const cleans = isCleanUp(by);
      if (cleans) await mustNotRun(saga);
      // First: what is read then is not changed by a call of before. A run that ends, and has not come to take its reference,
      // takes it now: an ending is of a reference, and nothing is done under it any more.
      const { account } = (request ?? {}) as { account?: string };
      const takes = request !== undefined;
      const begun =
        owns && (takes ? await takeOrBegin(journal, by, { account, request }, owns) : await beginAs(journal, by, owns));
      if (begun?.how === 'taken' || (!owns && takes && (await isAnothers(journal, saga, request))))
        return standingOfAnother;
      if (begun?.how === 'ended') return { ...standingOfAnother, isAnothers: false, ended: begun };
      // A run that has begun in between begins anew with its next call.
      if (cleans) await mustNotRun(saga);
      const read = await standing(saga, { cursor, added, run: cleans ? undefined : by.run });
      const { from, placement: _, ...rest } = read;
      const placement = placementOf(read);
      if (cleans && !read.known) throw new OwnFailure('Rejected', `no provisioning of ${saga.reference} is known`);
      const { number, isAfterAnother } = begun?.how === 'begun' ? begun : {};
      const owned = number === undefined ? {} : { cursor: { ...from, fence: number }, isAfterAnother };
      const looked = { ...rest, placement, ...owned };
      if (placement.how !== 'placed') return looked;
      const unprotected = cleans && !placement.cancelled ? await unprotectedOf(journal, saga) : undefined;
      const bought = cleans ? undefined : await boughtBy(journal, saga, settings.profile?.planTypes);
      return { ...looked, bought, unprotected };
    }),

    /** Ids of servers become those of the order. @returns those that other orders have; then nothing is written */
    claimServers: ofSaga('mutate', ({ vmObjectIds }: { vmObjectIds: readonly number[] }, { saga }) =>
      claimServers(journal, saga, vmObjectIds),
    ),

    /**
     * Writes that a pivot of unknown outcome has happened: a person or a look has found it. A second call changes
     * nothing.
     *
     * @returns as {@link claimServers}, where other orders have servers of these ids
     */
    confirmPlacement: ofSaga(
      'mutate',
      (input: { row: string; placed: Placement<unknown>; verdict?: Verdict | undefined }, { saga }) =>
        journal.confirm(saga, input.row, input.placed, input.verdict, settings),
    ),

    /** Writes that the provider has cancelled what was placed, as a person says. A second call changes nothing. */
    cancelPlacement: ofSaga('mutate', async ({ row, by, note }: Verdict & { row?: string | undefined }, { saga }) => {
      const written = await journal.cancelled(saga, { by, note }, { row });
      return written === 'superseded' ? written : 'cancelled';
    }),

    /**
     * Writes that a pivot of unknown outcome has not happened, as a person says. Fails with `UnderWay` while it may be
     * in flight.
     *
     * @returns `done` where it is known by now that it has happened
     */
    denyPlacement: ofSaga('mutate', async ({ row, by, note }: Verdict & { row: string }, { saga }) => {
      const denied = await journal.deny(saga, row, { by, note });
      if (denied.how !== 'in-flight') return denied.how;
      const facts = { retryInMs: denied.leftMs, inFlightMs: denied.leftMs };
      throw new OwnFailure('UnderWay', 'the call may still be in flight', facts);
    }),

    /**
     * Writes calls that need not be made, because a person has done the same by hand. A second call changes nothing.
     */
    writeByHand: ofSaga('mutate', async (input: Verdict & Omit<ByHand, 'run' | 'verdict'>, { saga, run }) => {
      const { calls, by, note, cursor } = input;
      const written = await writeByHand(journal, saga, { calls, run, verdict: { by, note }, cursor });
      if (written.how === 'restored') throw new OwnFailure('JournalRestored', written.why);
      return { value: null, cursor: written.cursor };
    }),

    /** Writes the outcome of a call, where the journal could not be reached at once. A second call changes nothing. */
    writeOutcome: ofSaga('mutate', async (input: { unwritten: Unwritten; answer: unknown }, { saga, run }) => {
      const { call, cursor, inFlightMs, outcome, failure } = input.unwritten;
      const answer = { outcome, failure, answer: input.answer };
      const written = await journal.answered(saga, { call, run, cursor, inFlightMs, rules: settings }, answer);
      if (written === 'late') reportLate(call.step, cursor.row);
    }),

    /**
     * Writes how the run ended, for the record, hands it over to receivers, and ends its turn. Where the reference has ended
     * before, that counts: also where this call has written it, and is made again.
     */
    writeEnding: atHand('mutate', async (input: WriteEnding, { saga, run, workflow }): Promise<EndingWritten> => {
      const { isReset, outcome, report, resource, keepOpen, events = [], waits = [], account, metadata } = input;
      const { ended, report: told } = report as Pick<RecordedEnding, 'ended' | 'report'>;
      const decisions = told?.decisions ?? [];
      await writeWaits(journal, saga, run, waits);
      const wanted = await wantedFirewalls(journal, saga, outcome);
      const ending = { run, by: workflow, isReset, outcome, report, resource, wanted, keepOpen };
      const written = await journal.ended(saga, ending);
      if (written.how === 'ended') return written;
      // Of all the others only the start was asked for.
      if (ended !== 'done' || isReset || decisions.length > 0)
        await keepDeeds(journal, saga, workflowIdOf(workflow, saga.reference), run);
      if (resource !== undefined) await wakeNextInQueue(journal, written.next, resource);
      if (written.how === 'later') return { how: 'later' };
      const isTold = await handOver(journal, settings, { events, account, metadata }).then(
        () => true,
        (err: unknown) => {
          log.warn('receivers are not notified of the end yet', { err });
          return false;
        },
      );
      return { how: 'written', isTold };
    }),
  };
}

/** Begins also where the same request has taken the reference before. @throws OwnFailure `JournalRestored`, `Rejected` */
async function takeOrBegin(journal: Journal, by: Caller, taking: Omit<Taking, 'run'>, begins: Omit<Begin, 'run'>) {
  const { saga, run } = by;
  const { request } = taking;
  // A run whose request is of another workflow id calls nothing: somebody else has sent this call.
  if ((request as { reference?: unknown } | null | undefined)?.reference !== saga.reference)
    throw new OwnFailure('Rejected', 'the request is of another reference; nothing was sent');
  const { cursor, first, lacks } = await journal.take(saga, { ...taking, run });
  if (lacks !== undefined) throw new OwnFailure('JournalRestored', `${lacks}; nothing was sent`);
  if (first === undefined)
    return { how: 'begun' as const, number: cursor.fence ?? 0, isAfterAnother: false, first, cursor };
  const fields = first.request === undefined ? [] : differences(first.request, request);
  if (fields.length > 0) return { how: 'taken' as const, at: first.at, run: first.run, fields };
  const begun = await beginAs(journal, by, begins);
  if (begun.how === 'ended') return begun;
  return { ...begun, first, cursor: begun.how === 'begun' ? { ...cursor, fence: begun.number } : cursor };
}

/** @throws OwnFailure `JournalRestored` */
async function beginAs(journal: Journal, by: Caller, begins: Omit<Begin, 'run'>) {
  const begun = await journal.begin(by.saga, { run: by.run, cleans: isCleanUp(by), ...begins });
  if (begun.how === 'restored') throw new OwnFailure('JournalRestored', `${begun.why}; nothing was sent`);
  return begun;
}

/** @throws OwnFailure `UnderWay`, `JournalRestored` */
function placementOf({ placement }: Read): PlacementFound {
  if (placement.how === 'restored') throw new OwnFailure('JournalRestored', placement.why);
  if (placement.how === 'under-way') {
    throw underWay('a call was sent and may still be in flight', placement.leftMs);
  }
  return placement;
}

const standingOfAnother: ReferenceState = {
  known: true,
  isAnothers: true,
  placement: { how: 'none' },
  items: [],
  perhapsOrdered: [],
  doubtfulAdds: [],
  assigned: [],
};

/** As `takeReference` compares them. */
export async function isAnothers(journal: Journal, saga: SagaKey, request: unknown): Promise<boolean> {
  const first = await journal.firstRequest(saga);
  return first !== undefined && differences(first, request).length > 0;
}

const isCleanUp = ({ saga, workflow }: Caller) => workflow !== saga.workflow;

/** @throws OwnFailure `Rejected` where it runs, or is paused */
async function mustNotRun({ workflow, reference }: SagaKey): Promise<void> {
  if (!(await lookAtRun(workflowIdOf(workflow, reference)))) return;
  const why = `the provisioning of ${reference} is still running: request its cancellation instead`;
  throw new OwnFailure('Rejected', why);
}

/**
 * A change of firewalls wants this of its server, once it is done.
 *
 * @throws JournalUnavailable, JournalUnreadable
 */
async function wantedFirewalls(journal: Journal, saga: SagaKey, outcome: string): Promise<WantedFirewalls | undefined> {
  if (saga.workflow !== 'setFirewalls' || !resultOutcomes.some((one) => one === outcome)) return undefined;
  const request = (await journal.correctedRequest(saga)) as SetFirewallsRequest | undefined;
  if (request === undefined) return undefined;
  const { exactly, assign = [], unassign = [] } = request;
  return exactly === undefined ? { assign, unassign } : { exactly };
}

async function unprotectedOf(journal: Journal, saga: SagaKey): Promise<Leftover[] | undefined> {
  const record = await recordOf(journal, saga);
  if (record?.state !== 'open') return undefined;
  return record.leftovers.filter(({ kind }) => kind === 'server-unprotected');
}

async function boughtBy(journal: Journal, saga: SagaKey, planTypes: PlanTypes | undefined) {
  if (saga.workflow !== 'provisionServers') return undefined;
  const request = (await journal.correctedRequest(saga)) as ProvisionServersRequest | undefined;
  if (request === undefined) return undefined;
  const vmObjectIds = await journal.read((db) => serversOf(db, saga));
  return { ordered: serversOrdered(request.items, planTypes), vmObjectIds };
}
