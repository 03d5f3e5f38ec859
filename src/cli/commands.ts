/** The commands about one saga, and `watch`. */
import { checkDecision, checkReference, checkRequest } from '../client/checked';
import { atEnd, silentAfterMs } from '../client/events';
import { NoWorkerError, SagaEndedError } from '../client/errors';
import type { SagaHandle } from '../client/handle';
import { toRow, type SagaRow } from '../client/saga-list';
import { readClientConfig } from '../config';
import { describeDeed } from '../domain/deeds';
import { decisionHints, type DecisionName } from '../domain/decisions';
import type { WorkflowName } from '../domain/identity';
import { isWait, type ProgressView } from '../domain/progress';
import { requestSchemas } from '../domain/requests';
import { isRecord } from '../domain/values';
import { withSagas } from './connect';
import { exitStatus, UsageError } from './exit-status';
import { referenceIn, type CommandResult, type CommandContext, type OfWorkflow, type Attribution } from './define';
import { endOf, stateOf, statusOf, statusOfCancelled, type Ending } from './ending';
import { Live } from './live';
import { readJson, readRequest } from './read-request';
import { Watching } from './watching';

export async function start(
  context: CommandContext,
  workflow: WorkflowName,
  file: string,
  { detach }: { detach?: boolean },
): Promise<CommandResult> {
  const { printer, stdin } = context;
  const read = await readRequest(file, stdin);
  const config = readClientConfig();
  // Before any connection: a wrong request is reported even where there is no Temporal.
  const request = checkRequest(workflow, read, requestSchemas(config.profile?.planTypes));
  return withSagas(async (sagas) => {
    const saga = await sagas.start(workflow, request);
    printer.line(`${saga.workflowId} ${saga.existing ? 'was started before, with the same request' : 'started'}`);
    return detach ? { document: identityOf(saga) } : followToEnd(context, saga);
  });
}

/** Deletes what a run that cannot undo any more left in the cart, and reports what it found. */
export async function clean(context: CommandContext, reference: string): Promise<CommandResult> {
  checkReference(reference);
  return withSagas(async (sagas) => {
    const saga = await sagas.clean(reference);
    context.printer.line(`${saga.workflowId} started`);
    return followToEnd(context, saga);
  });
}

export function status({ printer }: CommandContext, reference: string, options: OfWorkflow): Promise<CommandResult> {
  return withSaga(reference, options, async (saga) => {
    const row = toRow(await saga.describe());
    const answer = await saga.progress({ withinMs: silentAfterMs }).catch((error: unknown) => {
      if (!(error instanceof NoWorkerError)) throw error;
      printer.toStderr(error.message);
      return undefined;
    });
    const isOver = row?.closeTime !== undefined;
    const progress = answer && isOver ? atEnd(answer) : answer;
    const ending = isOver ? await endOf(saga) : undefined;
    const deeds = await saga.deeds();
    const state = progress?.state ?? row?.state;
    printer.line(`${saga.workflowId}: ${ending ? stateOf(ending) : (state ?? 'running')}`);
    const lines = new Watching(printer);
    if (progress) lines.progress(progress, saga.workflowId);
    if (ending) lines.ending(ending, saga.workflowId);
    printer.lines(deeds.map((deed) => `  ${deed.at}: ${describeDeed(deed)}`));
    const ofOpen = isWait(state) || progress?.queued?.holderWaits ? exitStatus.waits : exitStatus.done;
    return {
      document: { ...documentOf(saga, progress, ending, row), deeds },
      status: ending ? statusOf(ending) : ofOpen,
    };
  });
}

export async function watch(
  context: CommandContext,
  references: readonly string[],
  { follow: throughWaits = false, ...options }: OfWorkflow & { follow?: boolean },
): Promise<CommandResult> {
  const { printer } = context;
  const named = references.map((reference) => referenceIn(reference, options));
  return withSagas(async (sagas) => {
    const found = await Promise.all(named.map(({ reference, workflow }) => sagas.get(reference, workflow)));
    return following(context, found, async (watching) => {
      const toEnd = async (saga: SagaHandle) => {
        const { workflowId } = saga;
        const onProgress = (progress: ProgressView) => printer.documentLine({ workflowId, progress });
        const { ending, latest } = await watching.follow(saga, { throughWaits, onProgress });
        printer.documentLine(documentOf(saga, latest, ending));
        return statusOf(ending);
      };
      return { status: Math.max(...(await Promise.all(found.map(toEnd)))) };
    });
  });
}

export async function decide(
  { printer, stdin }: CommandContext,
  reference: string,
  name: DecisionName,
  json: string | undefined,
  { workflow, json: _, ...said }: OfWorkflow & Partial<Attribution> & { question?: string; json?: boolean },
): Promise<CommandResult> {
  const example = `the decision’s JSON (it may also be in a file, or - for standard input), like ${decisionHints[name].example},`;
  const given = json === undefined ? {} : await readJson(json, stdin, example);
  const body = isRecord(given) ? { ...given, ...said } : given;
  // Before any connection, as a request.
  checkDecision(name, body);
  return withSaga(reference, { workflow }, async (saga) => {
    const taken = await saga.decide(name, body);
    printer.line(`${saga.workflowId}: ${taken.taken} is taken at ${taken.step}`);
    return { document: { ...identityOf(saga), ...taken } };
  });
}

/** `done` when the saga ends as cancelled, and nothing of it is there. */
export async function cancel(
  context: CommandContext,
  reference: string,
  { wait, by, note, ...options }: OfWorkflow & Attribution & { wait: boolean },
): Promise<CommandResult> {
  const { printer } = context;
  return withSaga(reference, options, async (saga) => {
    try {
      await saga.cancel({ by, note });
    } catch (error) {
      if (!(error instanceof SagaEndedError)) throw error;
      const ending = await endOf(saga);
      if (ending.state !== 'cancelled')
        throw new UsageError(
          `${saga.workflowId} has ended as ${stateOf(ending)}: nothing is cancelled, and nothing is written down`,
        );
      new Watching(printer).ending(ending, saga.workflowId);
      return { document: documentOf(saga, undefined, ending), status: statusOfCancelled(ending) };
    }
    printer.line(`${saga.workflowId}: cancellation is requested`);
    if (!wait) return { document: { ...identityOf(saga), cancelRequested: true } };
    return followToEnd(context, saga, statusOfCancelled);
  });
}

async function withSaga(reference: string, options: OfWorkflow, work: (saga: SagaHandle) => Promise<CommandResult>) {
  const named = referenceIn(reference, options);
  return withSagas(async (sagas) => work(await sagas.get(named.reference, named.workflow)));
}

type Following = Pick<CommandContext, 'printer' | 'onLeave'>;

export function followToEnd(context: Following, saga: SagaHandle, statusIn = statusOf): Promise<CommandResult> {
  return following(context, [saga], async (watching) => {
    const { ending, latest } = await watching.follow(saga);
    return { status: statusIn(ending), document: documentOf(saga, latest, ending) };
  });
}

/** Who leaves may think that the sagas end with the command. */
function following<T>({ printer, onLeave }: Following, sagas: SagaHandle[], work: (watching: Watching) => Promise<T>) {
  const { screen } = printer;
  // In place, where a person watches a terminal.
  const watching = new Watching(printer, screen && new Live(screen), sagas.length > 1);
  onLeave?.((signal) => {
    watching.close();
    if (signal === 'SIGPIPE') return;
    for (const { workflowId } of sagas) {
      printer.toStderr(`${workflowId} goes on without this terminal`);
      printer.toStderr(`  order-saga watch ${workflowId}`);
      printer.toStderr(`  order-saga cancel ${workflowId} --by you --note 'why'`);
    }
  });
  return work(watching).finally(() => watching.close());
}

function identityOf({ workflowId, reference, workflow, runId, existing }: SagaHandle) {
  return { workflowId, reference, workflow, runId, existing };
}

/** One format for every command that shows one saga; empty parts are left out. */
function documentOf(saga: SagaHandle, progress: ProgressView | undefined, ending: Ending | undefined, row?: SagaRow) {
  const { state: _, ...how } = ending ?? {};
  const isOver = ending !== undefined && ending.state !== 'waits';
  const waiting = ending?.state === 'waits' ? ending.waiting : progress?.waiting;
  const state = isOver ? stateOf(ending) : (waiting?.kind ?? progress?.state ?? row?.state);
  return { ...identityOf(saga), state, waiting, ...how, progress };
}
