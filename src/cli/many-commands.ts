/**
 * Many decisions: whom they reach, a loop that sends each one as an update, and what came of it.
 *
 * ```text
 *   list, or read the lines ──▶ show ──▶ yes? ──▶ decide, some side by side, at a pace ──▶ summary
 * ```
 *
 * Each decision names the question and when it was asked: sent again, it counts once, and a saga that has moved on
 * refuses it.
 */
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import type { Readable } from 'node:stream';
import type { OrderSagaClient } from '../client/client';
import {
  DecisionRefusedError,
  NoConnectionError,
  NoWorkerError,
  SagaEndedError,
  UnknownReferenceError,
} from '../client/errors';
import { countedBy } from '../client/inbox';
import { objectionTo } from '../client/checked';
import type { WaitingSaga } from '../client/index';
import type { Cancellation } from '../domain/decisions';
import { namesOfFirst } from '../domain/problems';
import { inboxGroupings, type InboxGrouping } from '../domain/progress';
import { referenceIn, type CommandResult, type CommandContext, type Attribution } from './define';
import { compareWith, rowOf, type Compared } from './compare-export';
import { withSagas } from './connect';
import { exitStatus, UsageError } from './exit-status';
import { printWaiting } from './list-commands';
import type { Printer } from './print';
import { reached, readLines, type ManyDecision, type OneDecision } from './many-decisions';
import { inUnits } from './units';

/** A line of `--lines` that nobody has filled in yet. */
export interface OpenLine extends Pick<WaitingSaga, 'kind' | 'question'> {
  /** The workflow id. */
  saga: string;
  since: string;
  /** By the provider's export, with what it says. */
  decision: 'confirmPlaced' | null;
}

export interface ManyOptions extends Attribution {
  where?: string;
  all?: boolean;
  lines?: string;
  rate: number;
  limit: number;
  dryRun?: boolean;
  yes?: boolean;
}

/** First whom it reaches, then a question, then the loop. */
export async function decideMany(
  context: CommandContext,
  decision: ManyDecision | undefined,
  { where, all, lines, rate, limit, dryRun, yes, by, note }: ManyOptions,
): Promise<CommandResult> {
  const { printer, stdin } = context;
  if (rate < 0.01 || rate > 50) throw new UsageError('--rate must be from 0.01 to 50');
  if ((lines === undefined) !== (decision !== undefined))
    throw new UsageError('either a decision, with --where or --all; or --lines, with one for each saga');
  if (decision ? !all && !where?.trim() : (all ?? where))
    throw new UsageError(
      '--where FILTER, or --all, goes with a decision, which needs one of them; --lines with neither',
    );
  // Before any connection: a wrong line is reported even where there is no Temporal.
  const given = lines === undefined ? [] : await readLines(lines, stdin, { by, note });
  return withSagas(async (sagas) => {
    const found = decision ? await sagas.waiting({ kinds: reached[decision], where }, limit) : undefined;
    const of = ({ workflowId: saga, question, waitingSince }: WaitingSaga) => {
      return decision ? [{ saga, decision, since: waitingSince.toISOString(), body: { by, note, question } }] : [];
    };
    const many = found?.sagas.flatMap(of) ?? given;
    const asked = decision
      ? `${decision} ${where ? `where ${where}` : 'all that wait'}`
      : counted(many.length, 'decision', 'decisions');
    const beyond = found?.more ?? 0;
    const preview = { asked, count: many.length, beyond };
    printPreview(printer, preview, found?.sagas ?? [], rate);
    if (dryRun) return { document: { preview: { ...preview, sagas: found?.sagas } } };
    if (many.length === 0) return { document: { preview }, status: exitStatus.notDone };
    if (!yes && !(await isConfirmed(printer, stdin, lines === '-'))) {
      return { document: { preview }, status: exitStatus.refused };
    }
    const decided: Decided[] = [];
    const say = () => `${bar(decided.length, many.length)} ${describeCounts(decided)}`;
    context.onLeave?.(() => {
      printer.overwrite('');
      printer.toStderr(`${say()}\nthe same command goes on where it was`);
    });
    await decideEach(sagas, many, rate, (one) => {
      decided.push(one);
      printer.overwrite(say());
    }).finally(() => {
      printer.overwrite('');
      printSummary(printer, asked, decided, many.length - decided.length + beyond);
    });
    // A saga that no longer waits or has ended needed no decision any more.
    const isPartly = beyond > 0 || decided.some(({ outcome }) => outcome === 'refused' || outcome === 'unanswered');
    return { document: { preview, decided }, status: isPartly ? exitStatus.partly : exitStatus.done };
  });
}

interface Asked {
  where?: string;
  limit: number;
  export?: string;
}

/** JSON lines to fill in: a decision for each. By the provider's export some are, and none ever as “not placed”. */
export async function questions(
  context: CommandContext,
  { where, limit, export: file }: Asked,
): Promise<CommandResult> {
  const { printer } = context;
  const ours = file === undefined ? [] : await compareWith(file, context);
  const doubtful = new Map(ours.flatMap((one) => (one.fate === 'unknown' ? [[one.reference, one]] : [])));
  return withSagas(async (sagas) => {
    const { sagas: waiting, more } = await sagas.waiting({ where }, limit);
    const lines = waiting.map((saga): OpenLine => {
      const { workflowId, kind, question, waitingSince } = saga;
      const placed = placedBy(saga, doubtful.get(saga.reference));
      if (typeof placed === 'string') printer.toStderr(`${workflowId}: ${placed}`);
      const line = { saga: workflowId, kind, question, since: waitingSince.toISOString(), decision: null };
      return { ...line, ...(typeof placed === 'object' && placed) };
    });
    printer.lines(lines.map((line) => JSON.stringify(line)));
    if (lines.length === 0) printer.toStderr('no saga that fits waits for a decision');
    if (more > 0) printer.toStderr(`${more} more ask: settle these first, and run it again`);
    return { document: lines, status: more > 0 ? exitStatus.partly : exitStatus.done };
  });
}

/** @returns what is filled in, or why nothing is; undefined where an export cannot say it */
function placedBy({ kind, workflow }: WaitingSaga, one: Compared | undefined) {
  // Other workflows may have the same reference.
  const isOfOrder = workflow === 'provisionServers' || workflow === 'cleanCart';
  if (one === undefined || !isOfOrder || kind !== 'outcome-unknown') return undefined;
  const row = rowOf(one);
  if (typeof row === 'string') return row;
  const { orderId, vmObjectIds: ids = [] } = row;
  // A clean-up takes none.
  const isWhole = workflow === 'provisionServers' && ids.length > 0 && ids.length === one.servers;
  const decision = 'confirmPlaced' as const;
  const takesId = objectionTo(decision, { question: '–', by: 'one', note: 'one', orderId }) === undefined;
  return { decision, ...(takesId && { orderId }), ...(isWhole && { vmObjectIds: ids }) };
}

const underWayMax = 20;
/** An answer that is lost is asked for again by the same update: it is not decided twice. */
const triesMax = 4;
const triesPauseMs = 1_000;

/** At most `perSecond` begin in any second. @throws what stops them all: the connection is gone, or a key differs */
async function decideEach(
  sagas: OrderSagaClient,
  many: readonly OneDecision[],
  perSecond: number,
  onDecided: (one: Decided) => void,
): Promise<void> {
  const underWay = new Set<Promise<void>>();
  const failures: unknown[] = [];
  for (const [index, one] of many.entries()) {
    if (index > 0) await pause(1_000 / perSecond);
    while (underWay.size >= underWayMax) await Promise.race(underWay);
    if (failures.length > 0) break;
    const deciding = decide(sagas, one)
      .then(onDecided, (error: unknown) => failures.push(error))
      .then(() => void underWay.delete(deciding));
    underWay.add(deciding);
  }
  await Promise.all(underWay);
  if (failures.length > 0) throw failures[0];
}

/** `movedOn`: it asks another question, or none. `gone`: it has ended. `unanswered`: perhaps it has taken it. */
const words = {
  taken: 'taken',
  refused: 'refused',
  movedOn: 'no longer waiting',
  gone: 'ended before',
  unanswered: 'unanswered',
};

interface Decided {
  saga: string;
  outcome: keyof typeof words;
  why?: string;
}

async function decide(sagas: OrderSagaClient, { saga, decision, since, body }: OneDecision): Promise<Decided> {
  const { reference, workflow } = referenceIn(saga, {});
  for (let tries = 1; ; tries += 1) {
    try {
      const handle = await sagas.get(reference, workflow);
      await (decision === 'cancel' ? handle.cancel(body as Cancellation) : handle.decide(decision, body, { since }));
      return { saga, outcome: 'taken' };
    } catch (error) {
      if (error instanceof DecisionRefusedError)
        return { saga, outcome: error.movedOn ? 'movedOn' : 'refused', why: error.message };
      if (error instanceof SagaEndedError || error instanceof UnknownReferenceError) return { saga, outcome: 'gone' };
      const isSilent = error instanceof NoWorkerError;
      if (tries >= triesMax && isSilent) return { saga, outcome: 'unanswered' };
      if (tries >= triesMax || !(isSilent || error instanceof NoConnectionError)) throw error;
    }
    await pause(triesPauseMs * 2 ** tries);
  }
}

const groupsShown = 8;
const rowsShown = 10;

function printPreview(
  printer: Printer,
  { asked, count, beyond }: { asked: string; count: number; beyond: number },
  sagas: WaitingSaga[],
  perSecond: number,
): void {
  if (count === 0) {
    printer.line(`${asked}: no saga that waits fits; there is nothing to decide`);
    return;
  }
  printer.line(`${asked}: ${counted(count, 'saga', 'sagas')}`);
  if (sagas.length > 0) {
    const described = (by: InboxGrouping) =>
      countedBy(sagas, by).map(({ name, count: sagasIn }) => `${name} ${inThousands(sagasIn)}`);
    printer.table(inboxGroupings.map((by) => [by, namesOfFirst(described(by), groupsShown)]));
    printWaiting(printer, sagas.slice(0, rowsShown));
  }
  if (sagas.length > rowsShown) printer.line(`and ${inThousands(sagas.length - rowsShown)} more`);
  if (beyond > 0) printer.line(`${inThousands(beyond)} more wait, beyond the limit`);
  printer.line(`at ${perSecond} per second it takes about ${inUnits(Math.ceil(count / perSecond) * 1_000)}`);
}

const barChars = 20;

/** `█████░░░░░░░░░░░░░░░ 750 of 3,000:` */
function bar(done: number, total: number): string {
  const full = Math.floor((barChars * done) / total);
  return `${'█'.repeat(full).padEnd(barChars, '░')} ${inThousands(done)} of ${inThousands(total)}:`;
}

const those = (decided: readonly Decided[], which: keyof typeof words) =>
  decided.filter(({ outcome }) => outcome === which);

/** "2,913 taken, 4 refused, 1 ended before": what is zero is left out, but for the first. */
function describeCounts(decided: readonly Decided[]): string {
  const outcomes = Object.keys(words) as (keyof typeof words)[];
  return outcomes
    .filter((outcome) => outcome === 'taken' || those(decided, outcome).length > 0)
    .map((outcome) => `${inThousands(those(decided, outcome).length)} ${words[outcome]}`)
    .join(', ');
}

function printSummary(printer: Printer, asked: string, decided: readonly Decided[], notReached: number): void {
  const rest = notReached > 0 ? `, ${inThousands(notReached)} not reached` : '';
  printer.line(`${asked}: ${describeCounts(decided)}${rest}`);
  const nameOf = ({ saga }: Decided) => saga;
  const named = (some: readonly Decided[]) => namesOfFirst(some.map(nameOf), rowsShown);
  const refused = those(decided, 'refused');
  for (const reason of new Set(refused.map(({ why }) => why)))
    printer.line(`  refused: ${reason}: ${named(refused.filter(({ why }) => why === reason))}`);
  const unanswered = those(decided, 'unanswered');
  if (unanswered.length > 0) printer.line(`  no worker answered, and they may have taken it: ${named(unanswered)}`);
}

const inThousands = (count: number) => count.toLocaleString('en');
const counted = (count: number, one: string, many: string) => `${inThousands(count)} ${count === 1 ? one : many}`;

/** @param isRead it was read as the list: nobody can be asked there */
async function isConfirmed(printer: Printer, stdin: Readable & { isTTY?: boolean }, isRead: boolean): Promise<boolean> {
  if (isRead || !stdin.isTTY) {
    printer.toStderr('nothing was started: add --yes to start it');
    return false;
  }
  printer.toStderr('Start? Type yes:');
  // A person who ends the input (Ctrl-D) has not said yes.
  for await (const said of createInterface({ input: stdin })) {
    if (said.trim().toLowerCase() === 'yes') return true;
    break;
  }
  printer.toStderr('nothing was started');
  return false;
}
