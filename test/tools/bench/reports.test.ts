/** What measurements look like on paper. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { between, markdownTable } from '../../../bench/markdown';

describe('a table', () => {
  it('has numbers on the right, in three digits, counts as they are, and a dash for what is not known', () => {
    const rows = [
      ['ours', 0.98765, 12_345.6, 23, undefined],
      ['bare', 1, 99.95, 4, 7.5],
    ] as const;
    expect(markdownTable(['who', 'ratio', 'bytes', 'events', 'ms'], rows)).toBe(
      [
        '| who | ratio | bytes | events | ms |',
        '| --- | ---: | ---: | ---: | ---: |',
        '| ours | 0.988 | 12346 | 23 | – |',
        '| bare | 1 | 100 | 4 | 7.50 |',
      ].join('\n'),
    );
  });
});

describe('the document', () => {
  const text = 'before\n<!-- bench: path -->\nold\n<!-- end of path -->\nafter\n';

  it('gets another report in the place of the old one, and keeps what is around it', () => {
    const once = between(text, 'path', 'new');
    expect(once).toBe('before\n<!-- bench: path -->\n\nnew\n\n<!-- end of path -->\nafter\n');
    expect(between(once, 'path', 'new')).toBe(once);
  });

  it.each(['throughput', 'journal'])('has a place for %s', (part) => {
    const page = readFileSync(join(__dirname, '..', '..', '..', 'docs', 'performance.md'), 'utf8');
    expect(between(page, part, 'measured')).toContain(`<!-- bench: ${part} -->\n\nmeasured\n\n<!--`);
  });

  it('must have a place for it', () => {
    expect(() => between(text, 'journal', 'new')).toThrow('<!-- bench: journal -->');
  });
});
