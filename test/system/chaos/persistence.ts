/** Whoever wants something of a server that dies now and then asks again. */
import { setTimeout as pause } from 'node:timers/promises';
import { NoConnectionError, NoWorkerError } from '../../../src/client/errors';

/** Repeats what did not get through; only for what may be asked twice. */
export async function persistently<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof NoConnectionError) && !(error instanceof NoWorkerError)) throw error;
      await pause(300);
    }
  }
}
