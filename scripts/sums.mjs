/**
 * Prints how large the house is beside its budget (CONTRIBUTING.md). It is to be looked at, and fails nothing. Recorded
 * histories are not counted.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const budgets = [
  ['src', 'lines', 19_000, /^src\//],
  ['test', 'lines', 30_000, /^test\/(?!.*\.json$)/],
  ['sandbox, scripts, deploy, bench', 'lines of TypeScript', 6_500, /^(sandbox|scripts|deploy|bench)\/.*\.ts$/],
  ['pages', 'words', 28_000, /\.md$/],
];

// Without git, or outside of a checkout, there is nothing to count.
const { stdout } = spawnSync('git', ['ls-files', '-z'], { encoding: 'utf8' });
const files = (stdout ?? '').split('\0').filter((file) => existsSync(file));
for (const [place, unit, budget, pattern] of budgets) {
  const texts = files.filter((file) => pattern.test(file)).map((file) => readFileSync(file, 'utf8'));
  const counted = unit === 'words' ? /\S+/g : /\n/g;
  const sum = texts.reduce((total, text) => total + (text.match(counted)?.length ?? 0), 0);
  console.log(`${place}: ${sum.toLocaleString('en')} ${unit}, budget ${budget.toLocaleString('en')}`);
}
