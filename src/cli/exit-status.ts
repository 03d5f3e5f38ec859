/** The exit statuses, on which scripts rely. Every error becomes one status and one message here. */
import {
  InvalidRequestError,
  NoConnectionError,
  NotCheckedError,
  NoWorkerError,
  AmbiguousReferenceError,
  OrderSagaError,
} from '../client/errors';
import { SettingsError } from '../config';
import { UnreadableJson } from '../domain/json';
import { JournalSchemaError, JournalUnavailable, JournalUnreadable } from '../journal/database/errors';

export const exitStatus = {
  done: 0,
  /**
   * The saga failed or was cancelled, and nothing of it is there; or it was lost; or the provider did not list a
   * server's firewalls; or a profile does not say that an answer is done.
   */
  notDone: 1,
  /**
   * Bad usage, a wrong request, an unknown reference, a refused decision, wrong settings (a missing key among them), or
   * a journal of another release.
   */
  refused: 2,
  /** Temporal or the journal cannot be reached or cannot answer, or no worker does where one must. */
  noConnection: 3,
  /** The saga waits for a decision; or the journal for `journal restored`. */
  waits: 4,
  /** It is done or was placed, but something was skipped, is left over, or was not reached any more. */
  partly: 5,
  /** The saga failed or was cancelled, and something of it is there, or may be. */
  leftovers: 6,
  /** A mistake of ours (`EX_SOFTWARE` of sysexits): it says nothing about the saga's outcome. */
  broken: 70,
} as const;

/** A command that cannot be carried out as it was given. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The first that fits counts. */
const outputs: readonly (readonly [of: abstract new (...args: never[]) => Error, status: number, advice?: string])[] = [
  [
    NoConnectionError,
    exitStatus.noConnection,
    '. Set TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE, or start a server (`temporal server start-dev`)',
  ],
  [AmbiguousReferenceError, exitStatus.refused, ' (--workflow)'],
  [NoWorkerError, exitStatus.noConnection],
  [NotCheckedError, exitStatus.noConnection],
  [JournalUnavailable, exitStatus.noConnection, '. JOURNAL_URL says where it is'],
  ...[OrderSagaError, UsageError, UnreadableJson, SettingsError, JournalSchemaError, JournalUnreadable].map(
    (of) => [of, exitStatus.refused] as const,
  ),
];

/** @returns lines for a person, and a document for `--json` */
export function errorOutputOf(error: unknown): { status: number; lines: string[]; document: object } {
  const { name, message, stack = message } = error instanceof Error ? error : new Error(String(error));
  const section = error instanceof OrderSagaError ? error.section : undefined;
  if (error instanceof InvalidRequestError) {
    const { problems } = error;
    const each = problems.map(({ field, message: wrong }) => (field ? `  ${field}: ${wrong}` : `  ${wrong}`));
    const lines = ['the request is wrong; nothing was started:', ...each];
    return { status: exitStatus.refused, lines, document: { error: { name, message, section, problems } } };
  }
  const document = { error: { name, message, section } };
  // Temporal's own, by its name: its class takes longer to load than all of the command line.
  if (name === 'ServiceError') {
    const { cause } = error as Error;
    const said = cause instanceof Error ? `${message}: ${cause.message}` : message;
    return { status: exitStatus.noConnection, lines: [`Temporal cannot answer: ${said}`], document };
  }
  const [, status, advice = ''] = outputs.find(([of]) => error instanceof of) ?? [];
  if (status === undefined) return { status: exitStatus.broken, lines: [stack], document };
  return { status, lines: [message + advice], document };
}
