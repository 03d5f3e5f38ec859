/** Texts of others stay texts in the markdown that the Web UI shows. The parser is Prettier's. */
import { parsers } from 'prettier/plugins/markdown';
import { describePurchase } from '../../../src/domain/purchases';
import { plainMarkdown } from '../../../src/domain/markdown';
import { serversOrdered } from '../../../src/domain/plan-types';
import { fc } from '../../support/properties';
import { provisionRequest } from '../../support/requests';

interface Node {
  type: string;
  value?: string;
  children?: Node[];
}

const parse = (markdown: string) => parsers.markdown.parse(markdown, {} as never) as Promise<Node>;
const typesIn = ({ type, children = [] }: Node): string[] => [type, ...children.flatMap(typesIn)];
const textIn = ({ value = '', children = [] }: Node): string => value + children.map(textIn).join('');

async function expectText(text: string): Promise<void> {
  const tree = await parse(`### ${plainMarkdown(text, 10_000)} end\n\nafter`);
  expect([...new Set(typesIn(tree))].sort()).toEqual(['heading', 'paragraph', 'root', 'text']);
  expect(textIn(tree)).toBe(`${text.replace(/\s+/g, ' ').trim()} endafter`.trimStart());
}

it.each([
  'a [link](https://evil.example)',
  '![picture](https://evil.example/x.png)',
  '<https://evil.example> and https://evil.example, www.evil.example and me@evil.example',
  'a <b onclick="x">page</b> &lt;b&gt; <!-- gone -->',
  '`code`, *strong*, __strong__ and ~~gone~~',
  'one\n\n# two\n- three\n> four\n\n```\nfive\n```',
  '| a | b |\n|---|---|\n| 1 | 2 |',
  'an end ## \\',
  '[ref]: https://evil.example',
  'a\\',
])('%j stays a text', expectText);

it('any text stays one', async () => {
  const pieces = [...'[]()<>!*_`#~|\\a \n-', '&amp;', '://'];
  const text = fc.array(fc.constantFrom(...pieces, 'http', 'www.', '@b.example'), { minLength: 1, maxLength: 30 });
  await fc.assert(fc.asyncProperty(text, (given) => expectText(`x${given.join('')}x`)));
});

it('a label is a text in a question, and turns nothing around', () => {
  const request = provisionRequest({ label: '[web](https://evil.example)\u202e' });
  const shown = plainMarkdown(describePurchase(request, serversOrdered(request.items)), 600);
  expect(shown).toContain('label “\\[web\\](https:\\/\\/evil.example)”');
});
