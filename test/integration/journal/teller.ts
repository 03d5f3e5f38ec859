/**
 * A process of its own that uses the journal of a file: `fork('teller.ts')`. It opens a file, and means one call in it,
 * when it is told to, and tells what came of it.
 */
import type { EffectCall } from '../../../src/domain/effects';
import type { Journal } from '../../../src/journal/journal';
import type { Meant } from '../../../src/journal/decide';
import type { SagaKey } from '../../../src/journal/rows';
import { openJournal } from '../../../src/journal/open';
import { createSealing } from '../../../src/security/sealing';

export interface Task {
  file: string;
  /** Meant, and not only opened. */
  mean?: { key: SagaKey; call: EffectCall; run: string };
}

export type Told = { ready: true } | { meant: Meant | undefined } | { failed: string };

async function perform({ file, mean }: Task): Promise<Told> {
  let journal: Journal | undefined;
  try {
    journal = await openJournal({ file }, createSealing(undefined));
    if (mean === undefined) return { meant: undefined };
    const { key, ...rest } = mean;
    return { meant: await journal.mean({ ...key, ...rest, knows: undefined, inFlightMs: 60_000 }) };
  } catch (error) {
    return { failed: String(error) };
  } finally {
    await journal?.close();
  }
}

const tell = (told: Told) => process.send?.(told);

process.on('message', (task: Task) => {
  void perform(task).then(tell);
});
// Also where whoever started it was killed.
process.once('disconnect', () => process.exit());
tell({ ready: true });
