/**
 * Prints how large the house is beside its budget (CONTRIBUTING.md). It is to be looked at, and fails nothing. Recorded
 * histories are not counted.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const house = (place) => new RegExp(`^src/${place}/`);
const budgets = [
  ['journal', 'lines', 4_600, house('journal')],
  ['saga', 'lines', 3_200, house('saga')],
  ['workflows', 'lines', 2_350, house('workflows')],
  ['activities', 'lines', 2_000, house('activities')],
  ['cli', 'lines', 2_550, house('cli')],
  ['client', 'lines', 1_750, house('client')],
  ['domain', 'lines', 2_450, house('domain')],
  ['provider', 'lines', 1_850, house('provider')],
  [
    'the rest of src and packages',
    'lines',
    3_250,
    /^(src\/(?!(journal|saga|workflows|activities|cli|client|domain|provider)\/).*|packages\/.*)\.ts$/,
  ],
  ['src and packages', 'lines', 24_000, /^(src|packages)\/.*\.ts$/],
  ['test', 'lines', 29_000, /^test\/(?!.*\.json$)/],
  ['sandbox, scripts, deploy, bench', 'lines of TypeScript', 6_500, /^(sandbox|scripts|deploy|bench)\/.*\.ts$/],
  // Without those that are printed.
  [
    'pages for users',
    'words',
    18_000,
    /^(?!docs\/(answers|client|metrics|requests|statuses)\.md$)(?!docs\/internals\/|spec\/|ARCHITECTURE|CONTRIBUTING).*\.md$/,
  ],
  ['pages of internals', 'words', 8_000, /^(docs\/internals\/|spec\/|ARCHITECTURE|CONTRIBUTING).*\.md$/],
];

/** What a program writes into a page. */
const printed = /^<!-- (?:bench: |failures, printed)[^]*?^<!-- end.*-->/gm;

// Without git, or outside of a checkout, there is nothing to count.
const { stdout } = spawnSync('git', ['ls-files', '-z'], { encoding: 'utf8' });
const files = (stdout ?? '').split('\0').filter((file) => existsSync(file));
for (const [place, unit, budget, pattern] of budgets) {
  const texts = files.filter((file) => pattern.test(file)).map((file) => readFileSync(file, 'utf8'));
  // A table's bars and a list's dashes are no words.
  const counted = unit === 'words' ? /\S*[\p{L}\p{N}]\S*/gu : /\n/g;
  const sum = texts.reduce((total, text) => total + (text.replace(printed, '').match(counted)?.length ?? 0), 0);
  console.log(`${place}: ${sum.toLocaleString('en')} ${unit}, budget ${budget.toLocaleString('en')}`);
}
