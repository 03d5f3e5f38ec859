/**
 * Tests that do not run: on this machine, or in `npm test`. Each says why in its title, and `left-out-reporter.cjs`
 * prints the reasons at the end.
 */
import { whyNoPostgres } from './postgres';

/** `npm run test:grids` takes further ways of what `npm test` has, too, and the whole grids. */
export const takesAll = process.env['ORDER_SAGA_TESTS'] === 'grids';

/** `describe` where nothing stands against it. */
export const unless = (why: string | undefined): jest.Describe => leavingOut(describe, why);

/** The same for what this machine lacks; CI has it, so there the tests run, and fail. */
export const unlessLacking = (why: string | undefined): jest.Describe => unless(process.env['CI'] ? undefined : why);

/** `it` where nothing stands against it. */
const itUnless = (why: string | undefined): jest.It => leavingOut(it, why);

export const itUnlessLacking = (why: string | undefined): jest.It => itUnless(process.env['CI'] ? undefined : why);

const inAll = takesAll ? undefined : 'in npm run test:grids';
export const describeInWays = unless(inAll);
export const itInWays = itUnless(inAll);
export const describeWithPostgres = unless(whyNoPostgres);

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
