/** The names under which changes of workflow code stand in histories. One more may come; one that was written stays as it is. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(__dirname, '..', '..', 'src', 'workflows');

it('the names of patches stay', () => {
  const sources = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
  const names = sources.flatMap((source) => [...source.matchAll(/\bpatched\('([^']*)'\)/g)].map(([, name]) => name));
  expect(names.length).toBe(sources.join('').match(/\bpatched\(/g)?.length);
  expect([...new Set(names)].sort()).toEqual([
    'refuse-beyond-limits',
    'refuse-clear-requests',
    'tell-of-earlier-runs',
    'tidy-up-after-lost-calls',
  ]);
});
