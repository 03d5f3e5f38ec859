/**
 * Property tests that try the same cases in every run, so that a change never fails on a case that it has nothing to do
 * with.
 *
 *   ORDER_SAGA_FUZZ_SEED   another seed, for other cases; a whole number
 */
import fc from 'fast-check';

export const seed = Number(process.env['ORDER_SAGA_FUZZ_SEED'] ?? '20260601');

fc.configureGlobal({ seed });

export { fc };
