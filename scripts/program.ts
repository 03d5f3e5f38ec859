/** How the programs of this project begin and end. */

/** An error that a person can mend: the message says it in a sentence, and a stack would add nothing. */
export class ExpectedError extends Error {}

/**
 * Runs it where the file is what Node was started with, and not imported. The status is what it returns, or 1 after an
 * error.
 *
 * @param expected kinds of errors that are said like an ExpectedError
 */
export function runProgram(
  file: NodeJS.Module,
  main: () => Promise<number | void> | number | void,
  expected: readonly (new (...args: never[]) => Error)[] = [],
): void {
  if (require.main !== file) return;
  new Promise<number | void>((resolve) => resolve(main())).then(
    (status) => {
      if (typeof status === 'number') process.exitCode = status;
    },
    (error: unknown) => {
      const isOfArguments = String((error as { code?: unknown }).code).startsWith('ERR_PARSE_ARGS');
      const isExpected = isOfArguments || [ExpectedError, ...expected].some((kind) => error instanceof kind);
      console.error(isExpected ? (error as Error).message : error);
      process.exitCode = 1;
    },
  );
}
