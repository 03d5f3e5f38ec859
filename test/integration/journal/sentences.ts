/** What a person is told when the journal cannot be used. */
import { JournalSchemaError, JournalUnavailable } from '../../../src/journal/errors';
import { password } from '../../support/postgres';

/**
 * Of a refusal, which must be one of ours: one line, with neither an address nor a credential in it.
 *
 * @param also what must not be in it either
 */
export async function sentenceOf(refused: Promise<unknown>, also: readonly string[] = []): Promise<string> {
  const error: unknown = await refused.then(
    () => new Error('it was not refused'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof JournalUnavailable) && !(error instanceof JournalSchemaError)) throw error;
  const { message } = error;
  expect(message).toMatch(/^the journal\P{Cc}+$/u);
  for (const secret of [password, 'order_saga', '127.0.0.1', 'postgres://', '/tmp', ...also]) {
    expect(message).not.toContain(secret);
  }
  return message;
}

/** @returns the row that may have been written all the same */
export async function unavailable(refused: Promise<unknown>): Promise<{ why: string; row: string | undefined }> {
  const error: unknown = await refused.then(
    (value) => new Error(`it was not refused: ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (!(error instanceof JournalUnavailable)) throw error;
  await sentenceOf(Promise.reject(error));
  return { why: error.why, row: error.row };
}
