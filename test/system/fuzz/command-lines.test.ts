/**
 * Command lines of any words: each ends with a status of the contract and a sentence, never with a stack trace, and
 * never calls the provider. `fuzz-runs.ts` says how to try more of them.
 */
import fc from 'fast-check';
import { decisionNames } from '../../../src/domain/decisions';
import { runHere, type Ended } from '../../support/command-line';
import { Rig } from '../../support/rig';
import { fuzz, patience } from './fuzz-runs';

const lines = fuzz(300);
jest.setTimeout(patience(60_000));

let rig: Rig;
const outside = { ...process.env };
beforeAll(async () => {
  rig = await Rig.start();
  const { address, namespace, journalUrl } = rig;
  Object.assign(process.env, { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace, JOURNAL_URL: journalUrl });
});
afterAll(async () => {
  process.env = outside;
  await rig.close();
});

const asking = ['status', 'watch', 'list', 'decide', 'cancel', 'record', 'journal'];
const commands = ['provision', 'change', 'switch', 'firewalls', ...asking, 'clean'];
const words = fc.oneof(
  fc.constantFrom('-', 'R-1', 'provision/R-1', 'change/', '../..', '', ' ', '0', '-1', '--', '-h', '__proto__'),
  fc.constantFrom('--json', '--state', 'stuck', '--limit', '1e9', '--workflow', 'clean', '--detach', '--no-wait'),
  fc.constantFrom('--odd', '--timeline', '--by', '--note', '--nothing-lost'),
  fc.constantFrom('restored', 'migrate', 'trust-new-references'),
  fc.constantFrom(...decisionNames, '{}', '{"note":1}', '{"__proto__":{}}', '[]', 'NaN', '{"by":"\\u0007"}', '[[['),
  fc.string({ unit: 'binary' }).filter((word) => !word.includes('\0')),
);
// `clean` of a reference starts a saga, so it gets none here.
const commandLines = fc.tuple(
  fc.oneof(fc.constantFrom(...commands.slice(0, -1)), words),
  fc.array(words, { maxLength: 4 }),
  fc.oneof(fc.json(), fc.string(), fc.constantFrom('', '{', '\ufeff{}', '['.repeat(100_000), '{"reference":"R"}')),
);

function isPlain({ status, out, err }: Ended): void {
  // 0: help, a list; 2: bad usage, a wrong request, nothing known of it.
  expect([0, 2]).toContain(status);
  expect(out + err).not.toMatch(/\n\s+at .*[:(]\d+/);
  expect(out + err).not.toMatch(/TypeError|RangeError|node_modules|undefined/);
  if (status === 2) expect(err).toMatch(/\w{3}/);
}

test(`${lines.numRuns} command lines of any words`, async () => {
  const plain = fc.asyncProperty(commandLines, async ([first, rest, input]) => {
    isPlain(await runHere([first, ...rest], input));
  });
  await fc.assert(plain, lines);
  expect(rig.sandbox.ledger.calls).toEqual([]);
});
