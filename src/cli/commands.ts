/** What each command does. Each returns an exit status, or throws. */
import { checkReference, checkRequest } from '../client/checked';
import { silentAfterMs } from '../client/events';
import { DecisionRefusedError, NoWorkerError, SagaEndedError } from '../client/errors';
import { objectionTo, type SagaHandle } from '../client/handle';
import { toRow, type SagaFilter, type SagaRow } from '../client/saga-list';
import { readClientConfig } from '../config';
import { decisionHints, decisionNames } from '../domain/decisions';
import { readWorkflowId, type WorkflowName } from '../domain/identity';
import { isWait, type ProgressView } from '../domain/progress';
import type { SagaOutcome } from '../domain/outcomes';
import { requestSchemas } from '../domain/requests';
import { withSagas } from './connect';
import { exitStatus, UsageError } from './exit-status';
import { endOf, follow, outcomeOf, reportOf, type Ending, type FollowOptions } from './follow';
import { reportHold } from './hold-commands';
import type { Printer } from './print';
import { inLines, watchingOn, type Watching } from './watching';
import { readJson, readRequest } from './read-request';
import type { CommandContext, OfWorkflow, Said } from './command-context';

export async function start(
  { printer, stdin }: CommandContext,
  workflow: WorkflowName,
  file: string,
  { detach }: { detach?: boolean },
): Promise<number> {
  const read = await readRequest(file, stdin);
  const config = readClientConfig();
  // Before any connection: a wrong request is reported even where there is no Temporal.
  const request = checkRequest(workflow, read, requestSchemas(config.planTypesMore));
  return withSagas(config, async (sagas) => {
    const saga = await sagas.start(workflow, request);
    printer.line(`${saga.workflowId} ${saga.existing ? 'was started before, with the same request' : 'started'}`);
    if (!detach) return followToEnd(printer, saga);
    printer.document(identityOf(saga));
    return exitStatus.done;
  });
}

/** Deletes what a run that cannot undo any more left in the cart, and reports what it found. */
export async function clean({ printer }: CommandContext, reference: string): Promise<number> {
  checkReference(reference);
  return withSagas(readClientConfig(), async (sagas) => {
    const saga = await sagas.clean(reference);
    printer.line(`${saga.workflowId} started`);
    return followToEnd(printer, saga);
  });
}

/** Looks which firewalls protect a server; a worker asks the provider. */
export async function firewallsOf({ printer }: CommandContext, server: string): Promise<number> {
  const vmObjectId = /^\d{1,15}$/.test(server) ? Number(server) : 0;
  return withSagas(readClientConfig(), async (sagas) => {
    const found = await sagas.firewallsOf(vmObjectId);
    printer.document(found);
    if ('firewalls' in found) {
      printer.line(`server ${server}: ${found.firewalls.length === 0 ? 'no firewalls' : found.firewalls.join(', ')}`);
      return exitStatus.done;
    }
    printer.line(`server ${server}: the provider’s list cannot be read: ${JSON.stringify(found.unreadable)}`);
    return exitStatus.notDone;
  });
}

export async function status({ printer }: CommandContext, reference: string, options: OfWorkflow): Promise<number> {
  return withSaga(reference, options, async (saga) => {
    const row = toRow(await saga.describe());
    const progress = await saga.progress({ withinMs: silentAfterMs }).catch((error: unknown) => {
      if (!(error instanceof NoWorkerError)) throw error;
      printer.toStderr(error.message);
      return undefined;
    });
    const isOver = row?.closeTime !== undefined;
    const ending = isOver ? await endOf(saga) : undefined;
    printer.line(
      `${saga.workflowId}: ${(ending && (outcomeOf(ending) ?? ending.state)) ?? progress?.state ?? row?.state ?? 'running'}`,
    );
    const lines = inLines(printer);
    if (progress) lines.progress(progress, saga.workflowId);
    if (ending) lines.ending(ending, saga.workflowId);
    printer.document(documentOf(saga, progress, ending, row));
    if (ending) return statusOf(ending);
    return isWait(progress?.state ?? row?.state) ? exitStatus.waits : exitStatus.done;
  });
}

export async function watch(
  { printer }: CommandContext,
  references: readonly string[],
  { follow: throughWaits = false, ...options }: OfWorkflow & { follow?: boolean },
): Promise<number> {
  const named = references.map((reference) => idOf(reference, options));
  return withSagas(readClientConfig(), async (sagas) => {
    const found = await Promise.all(named.map(({ reference, workflow }) => sagas.get(reference, workflow)));
    const watching = watchingOn(printer, found.length > 1);
    const toEnd = async (saga: SagaHandle) => {
      const { workflowId } = saga;
      const onProgress = (progress: ProgressView) => {
        printer.documentLine({ workflowId, progress });
      };
      const { ending, latest } = await followed(watching, saga, { throughWaits, onProgress });
      printer.documentLine(documentOf(saga, latest, ending));
      return statusOf(ending);
    };
    try {
      return Math.max(...(await Promise.all(found.map(toEnd))));
    } finally {
      watching.close();
    }
  });
}

export async function list(
  context: CommandContext,
  { limit, ...filter }: SagaFilter & { limit: number },
): Promise<number> {
  const { printer } = context;
  return withSagas(readClientConfig(), async (sagas) => {
    const rows: SagaRow[] = [];
    // One more than asked for shows whether there are more.
    for await (const row of sagas.list({ ...filter, limit: limit + 1 })) rows.push(row);
    const shown = rows.slice(0, limit);
    if (shown.length === 0) printer.line('no sagas');
    else printer.rows(shown);
    if (rows.length > shown.length) printer.toStderr(`the first ${shown.length}; there are more (--limit)`);
    if (shown.some(({ state }) => state === 'lost')) for (const line of aboutTheLost) printer.toStderr(line);
    await reportHold(context, sagas);
    printer.document(shown);
    return exitStatus.done;
  });
}

const aboutTheLost = [
  'lost: it was ended from outside, undid nothing and left no report. What it has done: order-saga record REFERENCE --timeline',
  'how to bring it to an end: order-saga journal lost',
];

export async function decide(
  { printer, stdin }: CommandContext,
  reference: string,
  decision: string,
  json: string | undefined,
  options: OfWorkflow,
): Promise<number> {
  const name = decisionNames.find((known) => known === decision);
  if (name === undefined)
    throw new UsageError(`there is no decision ${decision}; there are ${decisionNames.join(', ')}`);
  const example = `the decision’s JSON (it may also be in a file, or - for standard input), like ${decisionHints[name].example},`;
  const body = json === undefined ? {} : await readJson(json, stdin, example);
  const objection = objectionTo(name, body);
  if (objection !== undefined) throw new DecisionRefusedError(name, objection);
  return withSaga(reference, options, async (saga) => {
    const taken = await saga.decide(name, body);
    printer.line(`${saga.workflowId}: ${taken.taken} is taken at ${taken.step}`);
    printer.document({ ...identityOf(saga), ...taken });
    return exitStatus.done;
  });
}

/**
 * `done` when the saga ends as cancelled and nothing of it is there; not when it ended otherwise before, or waits while
 * it undoes.
 */
export async function cancel(
  { printer }: CommandContext,
  reference: string,
  { wait, by, note, ...options }: OfWorkflow & Said & { wait: boolean },
): Promise<number> {
  return withSaga(reference, options, async (saga) => {
    try {
      await saga.cancel({ by, note });
    } catch (error) {
      if (!(error instanceof SagaEndedError)) throw error;
      const ending = await endOf(saga);
      if (ending.state !== 'cancelled')
        throw new UsageError(
          `${saga.workflowId} has ended as ${outcomeOf(ending) ?? ending.state}: nothing is cancelled, and nothing is written down`,
        );
      inLines(printer).ending(ending, saga.workflowId);
      printer.document(documentOf(saga, undefined, ending));
      return statusOfCancelled(ending);
    }
    printer.line(`${saga.workflowId}: cancellation is requested`);
    if (wait) return followToEnd(printer, saga, { leaving: true });
    printer.document({ ...identityOf(saga), cancelRequested: true });
    return exitStatus.done;
  });
}

export function withSaga(
  reference: string,
  options: OfWorkflow,
  work: (saga: SagaHandle) => Promise<number>,
): Promise<number> {
  const named = idOf(reference, options);
  return withSagas(readClientConfig(), async (sagas) => work(await sagas.get(named.reference, named.workflow)));
}

/** A reference, or a workflow id. */
function idOf(reference: string, { workflow }: OfWorkflow) {
  return readWorkflowId(reference) ?? { reference: checkReference(reference), workflow };
}

async function followed(
  watching: Watching,
  saga: SagaHandle,
  { onProgress, ...options }: Pick<FollowOptions, 'throughWaits' | 'onProgress'> = {},
): Promise<{ ending: Ending; latest: ProgressView | undefined }> {
  let latest: ProgressView | undefined;
  const ending = await follow(saga, {
    ...options,
    onProgress: (progress) => {
      latest = progress;
      onProgress?.(progress);
      watching.progress(progress, saga.workflowId);
    },
    onSilence: watching.silence,
  });
  watching.ending(ending, saga.workflowId);
  return { ending, latest };
}

export async function followToEnd(
  printer: Printer,
  saga: SagaHandle,
  options: { leaving?: boolean } = {},
): Promise<number> {
  const watching = watchingOn(printer);
  const { ending, latest } = await followed(watching, saga).finally(watching.close);
  printer.document(documentOf(saga, latest, ending));
  if (!options.leaving) return statusOf(ending);
  if (ending.state === 'waits') return exitStatus.waits;
  if (ending.state !== 'cancelled') return exitStatus.notDone;
  return statusOfCancelled(ending);
}

/** `done` where nothing of the saga is there: that is what a cancellation asks for. */
function statusOfCancelled(ending: Ending): number {
  const status = statusOf(ending);
  return ending.state === 'cancelled' && status === exitStatus.notDone ? exitStatus.done : status;
}

function statusOf(ending: Ending): number {
  if (ending.state === 'waits') return exitStatus.waits;
  const outcome = outcomeOf(ending) ?? 'reversed';
  // The saga does not know what other runs of its reference did.
  if (outcome === 'untouched' && reportOf(ending)?.leftovers.length) return exitStatus.leftovers;
  return statusOfOutcome[outcome];
}

const statusOfOutcome: Record<SagaOutcome, number> = {
  done: exitStatus.done,
  partly: exitStatus.partly,
  reversed: exitStatus.notDone,
  'reversed-with-leftovers': exitStatus.leftovers,
  untouched: exitStatus.notDone,
};

function identityOf({ workflowId, reference, workflow, runId, existing }: SagaHandle) {
  return { workflowId, reference, workflow, runId, existing };
}

/** One format for every command that shows one saga; empty parts are left out. */
function documentOf(saga: SagaHandle, progress: ProgressView | undefined, ending: Ending | undefined, row?: SagaRow) {
  const { state = 'waits', ...how } = ending ?? {};
  const waiting = ending?.state === 'waits' ? ending.waiting : progress?.waiting;
  const waits = waiting?.kind ?? progress?.state ?? row?.state;
  return {
    ...identityOf(saga),
    state: state === 'waits' ? waits : ((ending && outcomeOf(ending)) ?? state),
    waiting,
    ...how,
    progress,
  };
}
