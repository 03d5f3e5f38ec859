/** Whose a reference is: the request that it was taken with, and the namespace in which its saga is open. */
import { referenceOf, type SagaKey } from './rows';
import type { Journal } from './journal';

export interface TakenBy {
  /** Undefined where only its effects are still known. */
  request: unknown;
  /** The namespace of its open run; undefined where the run has ended. */
  openIn: string | undefined;
}

/** @returns undefined where it was never taken. @throws JournalUnavailable, JournalUnreadable */
export async function takenBy(journal: Journal, { workflow, reference }: SagaKey): Promise<TakenBy | undefined> {
  const found = await journal.inTransaction((tx) => referenceOf(tx, { workflow, reference }));
  if (found === undefined) return undefined;
  const { request, open_in } = found;
  return {
    request: request === null ? undefined : await journal.unseal(request, 'the first request'),
    openIn: open_in ?? undefined,
  };
}
