/**
 * Tests that do not run: on this machine, or in `npm test` and `npm run test:ways`. Each says why in its title, and
 * `left-out-reporter.cjs` prints the reasons at the end. Files that do not run as a whole: `files-left-out.cjs`.
 */

const taken = process.env['ORDER_SAGA_TESTS'] ?? 'ways';

/** `npm run test:all` takes everything, with the whole grids. */
export const takesAll = taken === 'all';

/**
 * `npm run test:ways`, and Jest by itself, take all but the whole grids. `npm test` (ORDER_SAGA_TESTS=one) keeps each
 * promise of docs/reliability.md and each feature in one way: it leaves out further ways.
 */
export const takesWays = takesAll || taken === 'ways';

/** `describe` where nothing stands against it. */
export const unless = (why: string | undefined): jest.Describe => leavingOut(describe, why);

/** The same for what this machine lacks; CI has it, so there the tests run, and fail. */
export const unlessLacking = (why: string | undefined): jest.Describe => unless(process.env['CI'] ? undefined : why);

/** `it` where nothing stands against it. */
export const itUnless = (why: string | undefined): jest.It => leavingOut(it, why);

const inWays = takesWays ? undefined : 'in npm run test:ways';
export const describeInWays = unless(inWays);
export const itInWays = itUnless(inWays);

function leavingOut<T extends jest.Describe | jest.It>(tests: T, why: string | undefined): T {
  if (why === undefined) return tests;
  const titled = (title: string) => `${title} (left out: ${why})`;
  const skip = tests.skip as (...test: unknown[]) => void;
  const skipEach = tests.skip.each as unknown as (...table: unknown[]) => (...test: unknown[]) => void;
  const skipped = (title: string, ...test: unknown[]) => skip(titled(title), ...test);
  const each =
    (...table: unknown[]) =>
    (title: string, ...test: unknown[]) =>
      skipEach(...table)(titled(title), ...test);
  return Object.assign(skipped, { each }) as unknown as T;
}
