/** The sentences for a person when the journal cannot be used. */
import { JournalSchemaError, JournalUnavailable } from '../../../src/journal/database/errors';
import { inMemory } from '../../support/folder';
import { password } from '../../support/postgres';

/** A refusal, which must be one of ours: one line, with neither an address nor a credential in it. */
async function refusalOf(refused: Promise<unknown>): Promise<JournalSchemaError | JournalUnavailable> {
  const error: unknown = await refused.then(
    (value) => new Error(`it was not refused: ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (!(error instanceof JournalUnavailable) && !(error instanceof JournalSchemaError)) throw error;
  expect(error.message).toMatch(/^the journal\P{Cc}+$/u);
  for (const secret of [password, 'order_saga', '127.0.0.1', 'postgres://', inMemory]) {
    expect(error.message).not.toContain(secret);
  }
  return error;
}

export const sentenceOf = async (refused: Promise<unknown>): Promise<string> => (await refusalOf(refused)).message;

/** @returns why, and the row that may have been written all the same */
export async function unavailable(refused: Promise<unknown>): Promise<JournalUnavailable> {
  const error = await refusalOf(refused);
  if (!(error instanceof JournalUnavailable)) throw error;
  return error;
}
