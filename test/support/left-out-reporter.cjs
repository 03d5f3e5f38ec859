/** Prints at the end which tests did not run, and why: see left-out.ts. */
const filesLeftOut = Object.keys(require('./files-left-out.cjs')).length;

const said = {
  one:
    `left out: ${filesLeftOut} files: in npm run test:ways\n` +
    'Each promise was taken in one way: `npm run test:ways` takes all ways, `npm run test:all` the whole grids, too.',
  ways: 'Grids were taken in part: `npm run test:all` takes them whole.',
};

module.exports = class LeftOutReporter {
  onRunComplete(_contexts, { testResults }) {
    const reasons = new Map();
    for (const { testResults: tests } of testResults) {
      for (const { status, ancestorTitles, title } of tests) {
        if (status !== 'pending') continue;
        const [, why = 'no reason is given'] =
          /\(left out: ((?:[^()]|\([^()]*\))*)\)/.exec([...ancestorTitles, title].join(' ')) ?? [];
        reasons.set(why, (reasons.get(why) ?? 0) + 1);
      }
    }
    for (const [why, count] of reasons)
      process.stderr.write(`left out: ${count} ${count === 1 ? 'test' : 'tests'}: ${why}\n`);
    const { ORDER_SAGA_TESTS: taken = 'ways' } = process.env;
    if (taken in said) process.stderr.write(`${said[taken]}\n`);
  }
};
