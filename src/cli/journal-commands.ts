/** The commands that use the journal only: they work without Temporal, and show what Temporal has forgotten. */
import { AmbiguousReferenceError } from '../client/errors';
import { readJournalConfig } from '../config';
import { inWords } from '../domain/times';
import {
  confirmationsOf,
  nothingLost,
  restored,
  trustNewReferences,
  type Confirmation,
} from '../journal/restore/confirm-restore';
import { JournalUnavailable } from '../journal/database/errors';
import { describeIdentity } from '../journal/restore/recovery-gap';
import type { Journal } from '../journal/journal';
import type { SagaKey } from '../journal/rows';
import { migrate, schemaNumber, openToAsk, countsOf } from '../journal/open';
import { recordOf, workflowsOf } from '../journal/views/record';
import { createSealing } from '../security/sealing';
import { referenceIn, type CommandResult, type CommandContext, type OfWorkflow, type Attribution } from './define';
import { exitStatus, UsageError } from './exit-status';
import type { Printer } from './print';
import { describeRecord, timelineOf } from './print-record';

/** Prints all that is known of one reference; what cannot be decrypted is left out, and the status says so. */
export async function record(
  { printer }: CommandContext,
  target: string,
  { timeline, ...options }: OfWorkflow & { timeline?: boolean },
): Promise<CommandResult> {
  return withSaga(target, options, { writes: false }, async (journal, name, key) => {
    const found = await recordOf(journal, key);
    if (found === undefined) throw nothingKnown(key.reference, name);
    printer.lines(describeRecord(found));
    if (timeline) printer.table(timelineOf(found));
    const { unreadable = [] } = found;
    const [first] = unreadable;
    if (first === undefined) return { document: found };
    printer.toStderr(`${unreadable.length} parts of the record cannot be decrypted here: ${first.why}`);
    return { document: found, status: exitStatus.refused };
  });
}

/** Records that the provider has cancelled an order whose saga has ended: that saga takes no decision any more. */
export function orderCancelled(
  { printer }: CommandContext,
  target: string,
  { by, note, row, ...options }: OfWorkflow & Attribution & { row?: string },
): Promise<CommandResult> {
  return withSaga(target, options, { writes: true }, async (journal, name, key) => {
    const { reference } = key;
    if (row !== undefined) {
      if (!(await journal.secondCancelled(key, row, { by, note })))
        throw new UsageError(`row ${row} is of no order that came late and counts, by the journal ${name}`);
      printer.line(`the provider has cancelled the second order of ${reference}: it counts for no limit any more`);
      return { document: { ...key, row, cancelled: true, changed: true } };
    }
    const written = await journal.cancelled(key, { by, note }, { isOver: true });
    if (written === 'none') throw new UsageError(`nothing was placed under ${reference}, by the journal ${name}`);
    if (written === 'open') {
      throw new UsageError(
        `the saga of ${reference} has not ended: it takes markCancelled as an answer, where it asks; ` +
          'where it was ended from outside, bring it to an end first (`order-saga journal lost`)',
      );
    }
    printer.line(
      written === 'before'
        ? `it was written before that the provider has cancelled what was placed under ${reference}`
        : `the provider has cancelled what was placed under ${reference}: it counts for no limit any more, and is not placed again`,
    );
    return { document: { ...key, cancelled: true, changed: written === 'cancelled' } };
  });
}

/** @throws InvalidRequestError before the journal is opened; UsageError, AmbiguousReferenceError */
async function withSaga(
  target: string,
  options: OfWorkflow,
  how: { writes: boolean },
  work: (journal: Journal, name: string, key: SagaKey) => Promise<CommandResult>,
): Promise<CommandResult> {
  const { reference, workflow } = referenceIn(target, options);
  // The effects of a clean-up are in the record of the provisioning that it cleaned up.
  const named = workflow === 'cleanCart' ? 'provisionServers' : workflow;
  return withJournal(how, async (journal, name) => {
    const [found, ...more] = named === undefined ? await workflowsOf(journal, reference) : [named];
    if (found === undefined) throw nothingKnown(reference, name);
    if (more.length > 0) throw new AmbiguousReferenceError(reference, [found, ...more]);
    return work(journal, name, { reference, workflow: found });
  });
}

function nothingKnown(reference: string, name: string): UsageError {
  return new UsageError(
    `the journal ${name} knows nothing of ${reference}: no saga took it, or another journal has it`,
  );
}

export async function migrateJournal({ printer }: CommandContext): Promise<CommandResult> {
  const { address, name } = readJournalConfig();
  const { from, to } = await naming(name, () => migrate(address));
  printer.line(
    from === to
      ? `the journal ${name} is of schema ${to}: nothing had to be done`
      : `the journal ${name} was of schema ${from}, and is of schema ${to} now`,
  );
  return { document: { journal: name, from, to } };
}

/** An operator runs it after the journal's database was restored from an older copy, before a worker sends anything. */
export function journalRestored(
  context: CommandContext,
  { nothingLost: isWhole, by, note }: { nothingLost?: boolean } & Attribution,
): Promise<CommandResult> {
  const { printer } = context;
  if (isWhole) return journalIsWhole(context, { by, note });
  return withJournal({ writes: true }, async (journal, name) => {
    const { epoch, noticed, elsewhere } = await restored(journal, { by, note });
    printer.lines([
      `the journal ${name} has the epoch ${epoch} from now on`,
      noticed === undefined
        ? 'no worker had noticed that it was restored'
        : `a worker noticed on ${noticed} that it was restored`,
      ...(elsewhere === undefined ? [] : [elsewhere]),
      'a person is asked once about each order, change order and switch of a reference from before, before it is sent',
      'the same holds for references that are new here, until `order-saga journal trust-new-references`',
    ]);
    return { document: { journal: name, epoch, noticed, elsewhere } };
  });
}

/** An operator runs it after the journal's database failed over or moved, and every commit went along. */
function journalIsWhole({ printer }: CommandContext, statement: Attribution): Promise<CommandResult> {
  return withJournal({ writes: true }, async (journal, name) => {
    const answer = await nothingLost(journal, statement);
    if (answer.how === 'refused') {
      throw new UsageError(
        `a worker noticed on ${answer.noticed} that a history knows more than the journal ${name}: something was lost. ` +
          'Say `order-saga journal restored` without --nothing-lost',
      );
    }
    const changed = answer.how === 'accepted';
    printer.lines(
      changed
        ? [
            answer.elsewhere,
            `the journal ${name} has lost nothing, as you say: what was sent is known, and sagas go on`,
          ]
        : [`nothing had to be done: nothing shows that the journal ${name} is another one than it was`],
    );
    return { document: { journal: name, nothingLost: true, changed } };
  });
}

/** From then on nobody is asked about references that are new here. */
export function trustNew({ printer }: CommandContext, { by, note }: Attribution): Promise<CommandResult> {
  return withJournal({ writes: true }, async (journal, name) => {
    const changed = await trustNewReferences(journal, { by, note });
    const since = changed ? 'are trusted to be new from now on' : 'were trusted to be new already';
    printer.line(`references that are new to the journal ${name} ${since}`);
    return { document: { journal: name, newReferences: 'trust', changed } };
  });
}

/** Shows the state of the journal. It waits for a person where it was found to be an older copy. */
export async function journalStatus({ printer }: CommandContext): Promise<CommandResult> {
  return withJournal({ writes: false }, async (journal, name) => {
    const counts = await countsOf(journal);
    const { restoredAt, restored, raisedAt, newReferences, pivots, identity } = counts;
    const noticed = restoredAt === undefined ? restored : `noticed on ${inWords(restoredAt)}`;
    const until = 'nothing is sent until `order-saga journal restored`';
    printer.table([
      ['journal', name],
      // It cannot be opened where it is of another one.
      ['schema', String(schemaNumber)],
      ['id', counts.id],
      ['epoch', `${counts.epoch}${raisedAt === undefined ? '' : `, raised on ${inWords(raisedAt)}`}`],
      ['database', whatHolds(identity.here)],
      ['restored', noticed === undefined ? 'not noticed' : `${noticed}: ${until}`],
      ['new references', newReferences === 'ask' ? 'a person is asked about each' : 'are trusted to be new'],
      ['references', String(counts.references)],
    ]);
    printer.line(
      `orders, change orders and switches: ${pivots.intended} intended, ${pivots.unknown} of unknown outcome`,
    );
    // Only the last ones: an incident has a handful.
    const confirmations = await confirmationsOf(journal, 20);
    printer.lines(confirmations.map(describeConfirmation));
    const document = { journal: name, schema: schemaNumber, ...counts, confirmations };
    return { document, status: restored === undefined ? exitStatus.done : exitStatus.waits };
  });
}

/** Makes one line of it, whatever was typed. */
function describeConfirmation({ at, what, details, said }: Confirmation): string {
  const who = said === undefined ? 'cannot be decrypted here' : `says ${said.by}: ${said.note}`;
  const facts = Object.entries(details).map(([name, value]) => `${name} ${[value].flat().join(', ')}`);
  return `${at}  ${what}${facts.length === 0 ? '' : ` (${facts.join('; ')})`}, ${who}`.replace(/\s+/gu, ' ');
}

function whatHolds(here: string | null): string {
  if (here !== null) return `on timeline ${describeIdentity(here)}`;
  const what = 'file' in readJournalConfig().address ? 'a file' : 'does not say on which timeline it is';
  return `${what}: only histories can show that it was restored`;
}

export async function withJournal<T>(how: { writes: boolean }, work: (journal: Journal, name: string) => Promise<T>) {
  const { address, name, payloadKeys, failover } = readJournalConfig();
  return naming(name, async () => {
    const journal = await openToAsk(address, createSealing(payloadKeys), { ...how, failover });
    try {
      return await work(journal, name);
    } finally {
      await journal.close();
    }
  });
}

/** A list of what asks for somebody: status `waits` where it is not empty. */
export function listed<T>(
  printer: Printer,
  found: readonly T[],
  none: string,
  linesOf: (one: T) => string[],
): CommandResult {
  printer.lines(found.length === 0 ? [none] : found.flatMap(linesOf));
  return { document: found, status: found.length === 0 ? exitStatus.done : exitStatus.waits };
}

/** Adds to an error which journal cannot be used: the name has no password in it. */
async function naming<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof JournalUnavailable)) throw error;
    throw new JournalUnavailable(`${error.why} (${name})`, { cause: error });
  }
}
