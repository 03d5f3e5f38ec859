import type { Kysely } from 'kysely';

/** For the sweeps of namespaces that share a journal. Of older references that have ended, nobody wrote down whose they were. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const typed = db as Kysely<{ reference: { namespace: string | null; open_in: string | null } }>;
  await db.schema.alterTable('reference').addColumn('namespace', 'text').execute();
  await typed
    .updateTable('reference')
    .set((set) => ({ namespace: set.ref('open_in') }))
    .where('open_in', 'is not', null)
    .execute();
}
