/** What measurements look like on paper. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawChart } from '../../bench/chart';
import { between, markdownTable } from '../../bench/markdown';
import { selfSizes, selfTimes, totalTimes } from '../../bench/profile';

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

  it.each(['throughput', 'path', 'growth', 'journal'])('has a place for %s', (part) => {
    const page = readFileSync(join(__dirname, '..', '..', 'docs', 'performance.md'), 'utf8');
    expect(between(page, part, 'measured')).toContain(`<!-- bench: ${part} -->\n\nmeasured\n\n<!--`);
  });

  it('must have a place for it', () => {
    expect(() => between(text, 'growth', 'new')).toThrow('<!-- bench: growth -->');
  });
});

describe('a chart', () => {
  const chart = (values: number[]) =>
    drawChart({
      title: 'Items < servers',
      axis: 'items',
      positions: [1, 10, 100],
      panels: [{ label: 'time, ms', values }],
    });
  const points = (svg: string) =>
    [...svg.matchAll(/<circle class="point" cx="([\d.]+)" cy="([\d.]+)"/g)].map(
      ([, x, y]) => [Number(x), Number(y)] as const,
    );

  it('puts what grows in proportion onto its dashed line', () => {
    const svg = chart([2, 20, 200]);
    const [, y1, y2] = /<line class="proportion"[^>]* y1="([\d.]+)"[^>]* y2="([\d.]+)"/.exec(svg)!.map(Number);
    const [first, middle, last] = points(svg);
    expect([first![1], last![1]]).toEqual([y1, y2]);
    expect(middle![0] - first![0]).toBeCloseTo(last![0] - middle![0], 0);
    expect(middle![1] - first![1]).toBeCloseTo(last![1] - middle![1], 0);
  });

  it('shows less than proportion below the line, and more above', () => {
    const lineEnd = (svg: string) => Number(/<line class="proportion"[^>]* y2="([\d.]+)"/.exec(svg)![1]);
    const [slow, quick] = [chart([2, 4, 8]), chart([2, 60, 2_000])];
    expect(points(slow).at(-1)![1]).toBeGreaterThan(lineEnd(slow));
    expect(points(quick).at(-1)![1]).toBeLessThan(lineEnd(quick));
  });

  it('writes its words so that XML reads them', () => {
    expect(chart([1, 1, 1])).toContain('<title>Items &lt; servers</title>');
  });

  it('stays within its frame where nothing grows', () => {
    for (const [x, y] of points(chart([5, 5, 5]))) {
      expect(x).toBeGreaterThan(0);
      expect(y).toBeGreaterThanOrEqual(0);
    }
  });
});

describe('a profile', () => {
  const frame = (functionName: string, url = '') => ({ functionName, url, lineNumber: 9 });

  it('adds up the time in each function itself, and leaves out the time in which nothing was done', () => {
    const profile = {
      nodes: [
        { id: 1, callFrame: frame('(idle)') },
        { id: 2, callFrame: frame('encrypt', 'file:///x/.cache/bench-abc/src/security/payload-codec.js') },
        { id: 3, callFrame: frame('', '/x/node_modules/zod/index.js') },
      ],
      samples: [1, 2, 3, 2],
      timeDeltas: [9_000, 1_000, 2_000, 3_000],
    };
    expect([...selfTimes(profile)]).toEqual([
      ['encrypt src/security/payload-codec.js:10', 4],
      ['(anonymous) node_modules/zod/index.js:10', 2],
    ]);
  });

  it('adds up the time with what is called, once for a function that calls itself', () => {
    const nodes = [
      { id: 1, callFrame: frame('outer'), children: [2] },
      { id: 2, callFrame: frame('inner'), children: [3] },
      { id: 3, callFrame: frame('outer') },
    ];
    const profile = { nodes, samples: [1, 2, 3], timeDeltas: [1_000, 2_000, 4_000] };
    expect(Object.fromEntries(totalTimes(profile))).toEqual({ outer: 7, inner: 6 });
  });

  it('adds up the memory of each function itself', () => {
    const leaf = { callFrame: frame('encode'), selfSize: 2_048, children: [] };
    const head = { callFrame: frame('(root)'), selfSize: 0, children: [{ ...leaf, children: [leaf] }] };
    expect([...selfSizes({ head })]).toEqual([['encode', 4]]);
  });
});
