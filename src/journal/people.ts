/**
 * Whom runs have waited for, and who has asked something of them. It is written with what is written anyway, and nothing
 * is decided by it.
 */
import { sql } from 'kysely';
import type { Deed } from '../domain/deeds';
import type { Wait } from '../domain/record';
import type { SagaKey } from './rows';
import type { Store } from './store';

/** As the run that waits tells it. A second call changes nothing; neither does one that knows less. @throws JournalUnavailable */
export async function writeWaits(
  journal: Store,
  { workflow, reference }: SagaKey,
  run: string,
  waits: readonly Wait[],
): Promise<void> {
  if (waits.length === 0) return;
  const rows = await Promise.all(
    waits.map(async ({ id: question, since, kind, step, asked, endedAt, decision }) => ({
      ...{ id: `${run}/${question}/${since}`, workflow, reference, run, question, kind, step },
      ...{ since_ms: Date.parse(since), asked: await journal.sealing.seal(asked) },
      ended_ms: endedAt === undefined ? null : Date.parse(endedAt),
      decision: decision === undefined ? null : await journal.sealing.seal(decision),
    })),
  );
  const ended = { ended_ms: sql<number | null>`excluded.ended_ms`, decision: sql<string | null>`excluded.decision` };
  await journal.inTransaction((tx) =>
    tx
      .insertInto('wait')
      .values(rows)
      .onConflict((again) => again.column('id').doUpdateSet(ended).where('wait.ended_ms', 'is', null))
      .execute(),
  );
}

/** As Temporal's history has it, which is forgotten. A second call changes nothing, and neither does another run's copy. */
export async function writeDeeds(
  journal: Store,
  { workflow, reference }: SagaKey,
  run: string,
  deeds: readonly Deed[],
) {
  const rows = await Promise.all(
    deeds.map(async ({ at, what, ...said }) => ({
      ...{ id: `${workflow}/${reference}/${at}/${what}`, workflow, reference, run },
      ...{ what, at_ms: Date.parse(at), said: await journal.sealing.seal(said) },
    })),
  );
  if (rows.length === 0) return;
  await journal.inTransaction((tx) =>
    tx
      .insertInto('deed')
      .values(rows)
      .onConflict((again) => again.column('id').doNothing())
      .execute(),
  );
}
