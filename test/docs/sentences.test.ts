/** A sentence of a page is read at once. Code, cells of tables and targets of links are not counted. */
import { execFileSync } from 'node:child_process';
import { projectFolder, readDocument } from '../support/project';

const wordsMax = 40;

const pages = execFileSync('git', ['ls-files', '*.md'], { cwd: projectFolder, encoding: 'utf8' }).trim().split('\n');

/** A list's item, a heading or a paragraph ends a sentence, too; a colon and a semicolon do not. */
function longIn(page: string): string[] {
  const prose = page
    .replace(/^```[^]*?^```/gm, '\n')
    .replace(/^ *\|.*$/gm, '')
    .replace(/<!--[^]*?-->/g, '')
    .replace(/`[^`]*`/g, '')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1');
  const blocks = prose.split(/\n{2,}|\n(?= *(?:[-*]|\d+\.) )|\n(?=#)/);
  const sentences = blocks.flatMap((block) => block.split(/(?<=[.!?…][)”"*_]*)\s+(?=[^a-z])/));
  return sentences.filter((sentence) => wordsIn(sentence) > wordsMax);
}

function wordsIn(sentence: string): number {
  return sentence.match(/\S*[\p{L}\p{N}]\S*/gu)?.length ?? 0;
}

it('finds a sentence that is too long, and no list, table, code or link', () => {
  const words = (count: number) => 'a word '.repeat(count / 2).trim();
  expect(longIn(`Short. And ${words(wordsMax)}; end.`)).toHaveLength(1);
  expect(longIn(`- ${words(wordsMax)}\n- ${words(wordsMax)}. B${words(wordsMax - 2)}\n\n${words(wordsMax)}`)).toEqual(
    [],
  );
  expect(longIn(`See \`${words(60)}\` and [this](${words(60)}).\n\n| ${words(60)} |\n`)).toEqual([]);
});

it.each(pages)('%s has no sentence of more than 40 words', (page) => {
  expect(longIn(readDocument(page))).toEqual([]);
});
