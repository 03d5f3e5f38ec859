/**
 * A process of its own that uses the journal of a file: `fork('teller.ts')`. It opens a file, and means one call in it,
 * when it is told to, and tells what came of it.
 */
import type { EffectCall } from '../../../src/domain/effects';
import type { SagaKey } from '../../../src/journal/rows';
import { openJournal } from '../../../src/journal/open';
import { createSealing } from '../../../src/security/sealing';

export interface Task {
  file: string;
  key: SagaKey;
  call: EffectCall;
  run: string;
}

/** How the call is to be made, that it is ready, or what has failed. */
export type Told = string;

async function perform({ file, key, ...rest }: Task): Promise<Told> {
  const journal = await openJournal({ file }, createSealing(undefined));
  try {
    return (await journal.mean({ ...key, ...rest, knows: undefined, inFlightMs: 60_000 })).how;
  } finally {
    await journal.close();
  }
}

const tell = (told: Told) => process.send?.(told);

process.on('message', (task: Task) => {
  void perform(task).catch(String).then(tell);
});
// Also where whoever started it was killed.
process.once('disconnect', () => process.exit());
tell('ready');
