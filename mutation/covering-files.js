/**
 * Jest's filter of test files: those that cover the active mutant. Stryker names the tests to run, but Jest would load
 * every file to find them, and that takes longer than to run them.
 */
const { readCoverage } = require('./coverage');

module.exports = (files) => {
  const mutant = process.env.__STRYKER_ACTIVE_MUTANT__;
  const notes = readCoverage();
  if (mutant === undefined || notes.length === 0) return { filtered: files };
  const covering = notes.filter(({ covered, always }) => covered.includes(mutant) || always.includes(mutant));
  return { filtered: files.filter((path) => covering.some(({ file }) => file === path)) };
};
