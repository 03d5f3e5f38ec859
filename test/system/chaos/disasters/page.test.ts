/** docs/disasters.md has a row and a part for each disaster. */
import { readDocument } from '../../../docs/tables';
import { disasters } from './disasters';

const page = readDocument('docs/disasters.md');
const rows = page.split('\n').flatMap((line) => {
  const [, name, ...cells] = line.split('|').map((cell) => cell.trim());
  return /^`[a-z-]+`$/.test(name ?? '') ? [{ name: name!.slice(1, -1), cells: cells.slice(0, -1) }] : [];
});

it('has a row for each disaster, without an empty cell', () => {
  expect(rows.map(({ name }) => name)).toEqual(disasters.map(({ name }) => name));
  for (const { cells } of rows) expect(cells).toEqual([expect.stringMatching(/./), expect.stringMatching(/./)]);
});

it.each(disasters.map(({ name }) => name))('says what was done and seen: %s', (name) => {
  expect(page).toMatch(new RegExp(`^### ${name}\n`, 'm'));
});
