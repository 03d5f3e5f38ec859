/** Runs of sagas as the journal sees them: each brings along what it knows, and learns from each answer. */
import type { Begin } from '../../../src/journal/acquire';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { AnsweredOutcome, EffectCall, JournalCursor } from '../../../src/domain/effects';
import type { WorkflowName } from '../../../src/domain/identity';
import type { ReviewReason } from '../../../src/domain/spending';
import { writeApproval } from '../../../src/journal/approvals';
import type { JournalAddress } from '../../../src/journal/database/dialects';
import type { Answer, Ending, Journal } from '../../../src/journal/journal';
import type { Intent, Intended } from '../../../src/journal/decide';
import type { SagaKey } from '../../../src/journal/rows';
import type { FailoverRule } from '../../../src/journal/restore/recovery-gap';
import { openJournal } from '../../../src/journal/open';
import { createSealing } from '../../../src/security/sealing';
import type { TestDatabases } from './databases';

/** A person has said yes to what was asked. */
export const approve = ({ key }: Run, concern: ReviewReason, holdsMs = 86_400_000) =>
  writeApproval(journal, key, { concern, by: 'boss' }, { holdsMs });

/** Long enough to be in flight for the whole test, where nobody lets time pass. */
export const inFlightMs = 60_000;

/** With these every journal of a test file is opened, so that all are closed. */
export function openedJournals() {
  const open = new Set<Journal>();
  afterEach(async () => {
    for (const journal of open) await journal.close();
    open.clear();
  });
  return async (address: JournalAddress, sealing = createSealing(undefined), failover?: FailoverRule) => {
    const journal = await openJournal(address, sealing, failover);
    open.add(journal);
    return journal;
  };
}

/** The tests of the contract share these. */
export let journal: Journal;
/** This test's alone. */
export let run: Run;

/** One journal for all tests of the group, each of which has a run of a reference of its own. */
export function sharedJournal({ fresh }: TestDatabases, workflow?: WorkflowName): void {
  beforeAll(async () => {
    journal = await openJournal(await fresh(), createSealing(undefined));
  });
  beforeEach(async () => {
    run = await Run.begin(journal, workflow);
  });
  afterAll(() => journal.close());
}

/** A journal for each test, of which it may say what is true of no other. */
export function ownJournal({ fresh }: TestDatabases): void {
  const opened = openedJournals();
  beforeEach(async () => {
    journal = await opened(await fresh());
    run = await Run.begin(journal);
  });
}

export const place = (...cartItems: number[]): EffectCall => ({
  ...{ step: 'place-order', kind: 'pivot', activity: 'placeOrder' },
  about: { cartItems },
});

export const add = (item = 1): EffectCall => ({
  ...{ step: `add-item-${item}`, kind: 'mutate', activity: 'addCartItem' },
  about: { item },
});

/** @param cartItemId what adding that item came to */
export const remove = (cartItemId: number, item = 1): EffectCall => ({
  ...{ step: `add-item-${item}`, kind: 'compensate', activity: 'deleteCartItem' },
  about: { cartItemId },
});

export const assign: EffectCall = {
  ...{ step: 'assign-new', kind: 'mutate', activity: 'assignFirewalls' },
  about: { vmObjectId: 7, firewalls: [150] },
};
export const takeBackAssign: EffectCall = { ...assign, kind: 'compensate', activity: 'unassignFirewalls' };
/** The old ones go when the new ones protect the server. */
export const unassignOld: EffectCall = {
  ...{ step: 'unassign-old', kind: 'mutate', activity: 'unassignFirewalls' },
  about: { vmObjectId: 7, firewalls: [149] },
};
export const undoOld: EffectCall = { ...unassignOld, kind: 'compensate', activity: 'assignFirewalls' };

export type Sent = Extract<Intended, { how: 'send' }>;

interface Ways extends Partial<
  Pick<Intent, 'recall' | 'countsByHand' | 'inFlightMs' | 'note' | 'turn' | 'corrections' | 'rules'>
> {
  cursor?: JournalCursor | undefined;
}

export class Run {
  readonly run = randomUUID();
  cursor: JournalCursor | undefined;

  constructor(
    private journal: Journal,
    readonly key: SagaKey = { workflow: 'provisionServers', reference: randomUUID() },
  ) {}

  /** A run whose reference was taken. */
  static async begin(
    journal: Journal,
    workflow: WorkflowName = 'provisionServers',
    reference: string = randomUUID(),
  ): Promise<Run> {
    const run = new Run(journal, { workflow, reference });
    await run.take();
    return run;
  }

  /** The same reference, started again or reset: nothing is known yet. */
  again(journal = this.journal): Run {
    return new Run(journal, this.key);
  }

  /** The run goes on, and the worker has another journal: an older copy, or the same one by another way. */
  on(journal: Journal): this {
    this.journal = journal;
    return this;
  }

  async take(request: unknown = { label: 'web-1' }, account?: string) {
    const taken = await this.journal.take(this.key, { account, request, run: this.run });
    this.cursor = taken.cursor;
    return taken;
  }

  /** From here on only this run means anything: see `Intent`. */
  async own(renews?: Begin['renews'], isReset = true): Promise<number | undefined> {
    const begun = await this.journal.begin(this.key, { run: this.run, isReset, renews });
    const { id, epoch } = await journalRow(this.journal);
    if (begun.how !== 'begun') return undefined;
    this.cursor = { journal: id, epoch, fence: begun.number };
    return begun.number;
  }

  /** A run that is not the owner begins anew, as the engine does; not where it is said what it knows. */
  async intend(call: EffectCall, { cursor, ...ways }: Ways = {}): Promise<Intended> {
    // An item that was added is given again; a step that may be repeated is sent again.
    const recall = { recall: call.activity === 'addCartItem' };
    const intent = { ...this.key, call, run: this.run, inFlightMs, ...recall, ...ways };
    let intended = await this.journal.intend({ ...intent, cursor: cursor ?? this.cursor });
    if (intended.how === 'not-owned' && cursor === undefined) {
      await this.own();
      intended = await this.journal.intend({ ...intent, cursor: this.cursor });
    }
    if ('cursor' in intended) this.cursor = intended.cursor;
    return intended;
  }

  /** For what must be sent. */
  async send(call: EffectCall, ways: Ways = {}): Promise<Sent> {
    const intended = await this.intend(call, ways);
    if (intended.how !== 'send') throw new Error(`${call.step} is not to be sent: ${JSON.stringify(intended)}`);
    return intended;
  }

  answer(call: EffectCall, { cursor }: Sent, outcome: AnsweredOutcome, rest: Partial<Answer> = {}) {
    return this.journal.answered(
      this.key,
      { call, run: this.run, cursor, inFlightMs },
      { outcome, answer: null, ...(outcome === 'unknown' && { failure: 'UnknownOutcome' }), ...rest },
    );
  }

  /** Intended, sent and answered; with the outcome null nobody has written yet what came of it. */
  async do(
    call: EffectCall,
    outcome: AnsweredOutcome | null = 'done',
    rest: Partial<Answer> = {},
    ways: Ways = {},
  ): Promise<Sent> {
    const intended = await this.send(call, ways);
    if (outcome !== null) await this.answer(call, intended, outcome, rest);
    return intended;
  }

  /** Its answer was lost, and when its time was over a person has said “not placed”. */
  async doInVain(call: EffectCall, ways?: Ways): Promise<Sent> {
    const intended = await this.do(call, 'unknown', {}, ways);
    await letPass(this.journal);
    await this.deny(intended.cursor.row);
    return intended;
  }

  /** For what a person is to be asked about. @returns the row */
  async asks(call: EffectCall, ways?: Ways): Promise<string> {
    const intended = await this.intend(call, ways);
    if (intended.how !== 'unknown') throw new Error(`nobody is asked about ${call.step}: ${JSON.stringify(intended)}`);
    return intended.row;
  }

  /** Adds an item, which gets this id. */
  adds(cartItemId: number, item = 1): Promise<Sent> {
    return this.do(add(item), 'done', { answer: { cartItemId } });
  }

  removes(cartItemId: number, item = 1): Promise<Sent> {
    return this.do(remove(cartItemId, item));
  }

  confirm(row: string, placed: unknown = { how: 'confirmed' }, note = 'seen') {
    return this.journal.confirm(this.key, row, placed, { by: 'ann', note });
  }

  end(outcome = 'done', more: Partial<Ending> = {}) {
    const { key, run } = this;
    return this.journal.ended(key, { run, by: key.workflow, outcome, report: {}, ...more });
  }

  deny(row: string, note = 'looked') {
    return this.journal.deny(this.key, row, { by: 'ops', note });
  }
}

export const dayMs = 24 * 60 * 60_000;

/** As if it were later: whatever was intended, and whatever was done to the journal, is so much longer ago. */
export async function letPass(journal: Journal, ms = inFlightMs): Promise<void> {
  await journal.db
    .updateTable('effect')
    .set({ intended_ms: sql`intended_ms - ${ms}` })
    .execute();
  await journal.db
    .updateTable('purchase')
    .set({ intended_ms: sql`intended_ms - ${ms}` })
    .execute();
  await journal.db
    .updateTable('approval')
    .set({ at_ms: sql`at_ms - ${ms}`, until_ms: sql`until_ms - ${ms}` })
    .execute();
  await journal.db
    .updateTable('journal')
    .set({ raised_ms: sql`raised_ms - ${ms}` })
    .where('raised_ms', '>', 0)
    .execute();
}

export function rowOf(journal: Journal, id: string) {
  return journal.db.selectFrom('effect').selectAll().where('id', '=', id).executeTakeFirst();
}

export function journalRow(journal: Journal) {
  return journal.db.selectFrom('journal').selectAll().executeTakeFirstOrThrow();
}
