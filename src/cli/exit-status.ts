/** How the command line ends; scripts rely on it. Everything that went wrong becomes one status and one message here. */
import { ServiceError } from '@temporalio/client';
import {
  FirewallsUnknownError,
  InvalidRequestError,
  NoConnectionError,
  NoWorkerError,
  AmbiguousReferenceError,
  OrderSagaError,
} from '../client/errors';
import { SettingsError } from '../config';
import type { Problem } from '../domain/problems';
import { JournalSchemaError, JournalUnavailable, JournalUnreadable } from '../journal/errors';

export const exitStatus = {
  done: 0,
  /** The saga failed or was cancelled, and nothing of it is there; or it was lost; or the provider did not tell a server's firewalls. */
  notDone: 1,
  /**
   * Bad usage, a wrong request, an unknown reference, a decision that is refused, settings that are wrong: a key that is missing
   * and a journal of another release among them.
   */
  refused: 2,
  /** Temporal or the journal cannot be reached or cannot answer, or no worker does where one must. */
  noConnection: 3,
  /** For a decision; the journal, for `journal restored`. */
  waits: 4,
  /** It is done or was placed, but something was skipped, is left over, or was not come to any more. */
  partly: 5,
  /** The saga failed or was cancelled, and something of it is there, or may be. */
  leftovers: 6,
  /** A mistake of ours (`EX_SOFTWARE` of sysexits): never to be taken for the saga's outcome. */
  broken: 70,
} as const;

/** A command that cannot be carried out as it was given. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export interface ErrorOutput {
  status: number;
  /** Lines for a person. */
  lines: string[];
  /** For `--json`. */
  document: { error: { name: string; message: string; problems?: readonly Problem[] } };
}

export function errorOutputOf(error: unknown): ErrorOutput {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  const complaint = (status: number, lines: string[], problems?: readonly Problem[]): ErrorOutput => ({
    status,
    lines,
    document: { error: { name, message, ...(problems ? { problems } : {}) } },
  });
  if (error instanceof InvalidRequestError) {
    const { problems } = error;
    const each = problems.map(({ field, message: wrong }) => (field ? `  ${field}: ${wrong}` : `  ${wrong}`));
    return complaint(exitStatus.refused, ['the request is wrong; nothing was started:', ...each], problems);
  }
  if (error instanceof NoConnectionError) {
    return complaint(exitStatus.noConnection, [
      `${message}. Set TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE, or start a server (\`temporal server start-dev\`)`,
    ]);
  }
  if (error instanceof AmbiguousReferenceError) return complaint(exitStatus.refused, [`${message} (--workflow)`]);
  if (error instanceof FirewallsUnknownError) return complaint(exitStatus.notDone, [message]);
  if (error instanceof NoWorkerError) return complaint(exitStatus.noConnection, [message]);
  if (error instanceof OrderSagaError || error instanceof UsageError || error instanceof SettingsError) {
    return complaint(exitStatus.refused, [message]);
  }
  if (error instanceof JournalUnavailable) {
    return complaint(exitStatus.noConnection, [`${message}. JOURNAL_URL says where it is`]);
  }
  if (error instanceof JournalSchemaError || error instanceof JournalUnreadable) {
    return complaint(exitStatus.refused, [message]);
  }
  if (error instanceof ServiceError) {
    const said = error.cause === undefined ? message : `${message}: ${error.cause.message}`;
    return complaint(exitStatus.noConnection, [`Temporal cannot answer: ${said}`]);
  }
  return complaint(exitStatus.broken, [error instanceof Error && error.stack ? error.stack : message]);
}
