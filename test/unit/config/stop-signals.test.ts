import { readFileSync } from 'node:fs';

it.each(['worker', 'codec-server', 'starter'])('%s handles signals before it loads anything else', (program) => {
  const [first] = /^import .*$/m.exec(readFileSync(`src/${program}.ts`, 'utf8')) ?? [];
  expect(first).toMatch(/ from '\.\/config\/stop-signals';$/);
});
