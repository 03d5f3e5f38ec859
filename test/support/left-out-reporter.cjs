/** Prints at the end which tests did not run, and why: see left-out.ts. */
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
  }
};
