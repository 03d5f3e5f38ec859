/** What the programs of this folder and its neighbours read from their command line, and how they end. */
import { NoTemporalError } from '../../../scripts/temporal-cli';

/** @throws Error with a sentence, where it is no whole number or too small */
export function whole(name: string, text: string, least = 1): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new Error(`--${name} must be a whole number from ${least} on`);
}

/** Whatever ends the program before its end, a mistake of ours too, leaves nothing running. */
export function closeWhenEnded(close: () => Promise<unknown>): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      void close().finally(() => process.exit(130));
    });
  }
  process.once('uncaughtException', (error) => {
    console.error(error);
    void close().finally(() => process.exit(1));
  });
}

/** Exits with the status that `main` returns; with 1, and a message, where it throws. */
export function exitAs(main: () => Promise<number>): void {
  main().then(
    (status) => process.exit(status),
    (error: unknown) => {
      console.error(error instanceof NoTemporalError ? error.message : error);
      process.exit(1);
    },
  );
}
