/**
 * Log lines and counters stay as they are: nothing that a saga does depends on them, and their tests (test/operations) need a server
 * and what collects them.
 */
const isTold = (callee) =>
  callee.type === 'MemberExpression' ? callee.object.name === 'log' : /^count[A-Z]/.test(callee.name ?? '');

const strykerPlugins = [
  {
    kind: 'Ignore',
    name: 'told',
    value: {
      shouldIgnore: ({ node }) =>
        node.type === 'CallExpression' && isTold(node.callee) ? 'a log line or a counter' : undefined,
    },
  },
];

module.exports = { strykerPlugins };
