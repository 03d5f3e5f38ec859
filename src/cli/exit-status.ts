/** How the command line ends; scripts rely on it. Every error becomes one status and one message here. */
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
  /**
   * The saga failed or was cancelled, and nothing of it is there; or it was lost; or the provider did not list a
   * server's firewalls.
   */
  notDone: 1,
  /**
   * Bad usage, a wrong request, an unknown reference, a refused decision, wrong settings (a missing key among them), or
   * a journal of another release.
   */
  refused: 2,
  /** Temporal or the journal cannot be reached or cannot answer, or no worker does where one must. */
  noConnection: 3,
  /**
   * The saga waits for a decision; or the journal for `journal restored`.
   */
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

export interface ErrorOutput {
  status: number;
  /** Lines for a person. */
  lines: string[];
  /** For `--json`. */
  document: { error: { name: string; message: string; problems?: readonly Problem[] } };
}

export function errorOutputOf(error: unknown): ErrorOutput {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  const output = (status: number, lines: string[], problems?: readonly Problem[]): ErrorOutput => ({
    status,
    lines,
    document: { error: { name, message, ...(problems ? { problems } : {}) } },
  });
  if (error instanceof InvalidRequestError) {
    const { problems } = error;
    const each = problems.map(({ field, message: wrong }) => (field ? `  ${field}: ${wrong}` : `  ${wrong}`));
    return output(exitStatus.refused, ['the request is wrong; nothing was started:', ...each], problems);
  }
  if (error instanceof NoConnectionError) {
    return output(exitStatus.noConnection, [
      `${message}. Set TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE, or start a server (\`temporal server start-dev\`)`,
    ]);
  }
  if (error instanceof AmbiguousReferenceError) return output(exitStatus.refused, [`${message} (--workflow)`]);
  if (error instanceof FirewallsUnknownError) return output(exitStatus.notDone, [message]);
  if (error instanceof NoWorkerError) return output(exitStatus.noConnection, [message]);
  if (error instanceof OrderSagaError || error instanceof UsageError || error instanceof SettingsError) {
    return output(exitStatus.refused, [message]);
  }
  if (error instanceof JournalUnavailable) {
    return output(exitStatus.noConnection, [`${message}. JOURNAL_URL says where it is`]);
  }
  if (error instanceof JournalSchemaError || error instanceof JournalUnreadable) {
    return output(exitStatus.refused, [message]);
  }
  if (error instanceof ServiceError) {
    const said = error.cause === undefined ? message : `${message}: ${error.cause.message}`;
    return output(exitStatus.noConnection, [`Temporal cannot answer: ${said}`]);
  }
  return output(exitStatus.broken, [error instanceof Error && error.stack ? error.stack : message]);
}
