/** What the calls of a saga have sent of secrets by their names: digests, by which a rotated secret is noticed. */
import { asUnavailable } from './errors';
import type { Journal } from './journal';
import type { SagaKey, SentDigests } from './rows';

/**
 * @returns by the secret's name, the digests of each call that sent it
 * @throws JournalUnavailable
 */
export async function digestsSent(journal: Journal, key: SagaKey): Promise<Map<string, (readonly string[])[]>> {
  try {
    const rows = await journal.db
      .selectFrom('effect')
      .select('sent')
      .where((where) => where.and({ ...key }))
      .where('sent', 'is not', null)
      .execute();
    const found = new Map<string, (readonly string[])[]>();
    for (const { sent } of rows) {
      for (const [name, digests] of Object.entries(JSON.parse(sent ?? '{}') as SentDigests)) {
        found.set(name, [...(found.get(name) ?? []), digests]);
      }
    }
    return found;
  } catch (error) {
    throw asUnavailable(error);
  }
}
