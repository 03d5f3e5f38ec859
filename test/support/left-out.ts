/**
 * Tests that do not run: on this machine, or in `npm test`. Each says why in its title, and `left-out-reporter.cjs` prints the reasons
 * at the end.
 */

/** `npm run test:all` takes the whole grids. `npm test` makes every promise, with the cases that differ in what a saga does. */
export const takesAll = process.env['ORDER_SAGA_TESTS'] === 'all';

type Tests = (title: string, tests: () => void) => void;

/** `describe` where nothing stands against it. */
export function unless(why: string | undefined): Tests {
  return why === undefined ? describe : (title, tests) => describe.skip(titleOf(title, why), tests);
}

/** The same for what this machine lacks; CI has it, so there the tests run, and fail. */
export function unlessLacking(why: string | undefined): Tests {
  return unless(process.env['CI'] ? undefined : why);
}

/** `it` where nothing stands against it. */
export function itUnless(why: string | undefined): (title: string, test: () => unknown) => void {
  return (title, test) => {
    const run = async () => {
      await test();
    };
    if (why === undefined) it(title, run);
    else it.skip(titleOf(title, why), run);
  };
}

export const describeInAll = unless(takesAll ? undefined : 'in npm run test:all');

function titleOf(title: string, why: string): string {
  return `${title} (left out: ${why})`;
}
