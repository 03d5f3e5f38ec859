/** Sweeps, and what they look at. */
import { sql } from 'kysely';
import type { ReconcileOptions, SweepReport } from '../../src/domain/reconcile';
import { tables } from '../../src/journal/database/schema';
import type { Rig } from './rig';

export async function sweepIn({ sagas: { sweeps } }: Rig, options: ReconcileOptions = {}): Promise<SweepReport> {
  const { runId } = await sweeps.start({ perSecond: 20, ...options });
  const { report } = await sweeps.ended(runId);
  if (report === undefined) throw new Error('the sweep has no report');
  return report;
}

/** A sweep looks at all that the journal has: after this, at nothing. */
export function emptyJournal(rig: Rig): Promise<void> {
  return rig.withJournal(async ({ db }) => {
    for (const table of Object.keys(tables).slice(1).reverse()) await sql`delete from ${sql.table(table)}`.execute(db);
  });
}
