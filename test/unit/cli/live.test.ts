/** Sagas in place on a terminal, however narrow and low that is. */
import { Live } from '../../../src/cli/live';
import type { Streams } from '../../../src/cli/print';
import { inUnits } from '../../../src/cli/units';
import type { ProgressView, StepStatus } from '../../../src/domain/progress';
import { screenOf, withoutColors } from '../../support/terminal';

const progress = (state: ProgressView['state'], steps: [title: string, status: StepStatus][]): ProgressView => ({
  ...{ reference: 'PO-1', workflow: 'provisionServers', state, reached: [], leftovers: [], decisions: [] },
  steps: steps.map(([title, status], index) => ({ id: `s-${index}`, title, status, attempts: 1 })),
});

let live: Live;
let written: string;
const draw = (size: Pick<Streams['out'], 'columns' | 'rows'>) => {
  written = '';
  live = new Live({ write: (text) => (written += text), ...size });
};
afterEach(() => {
  live.close();
});
const seen = () => screenOf(written).map(withoutColors).slice(0, -1);

it('cuts a line to 40 columns, and no text steers the terminal', () => {
  draw({ columns: 40 });
  live.show('provision/PO-1', progress('running', [[`\u001b[31m${'wide '.repeat(20)}`, 'running']]));
  const [, step = ''] = seen();
  expect(step).toHaveLength(40);
  expect(step).toMatch(/^ {2}\S {2}\[31mwide .*…$/);
});

it('counts as 80 by 24 where the terminal has no size, as one that a program has opened', () => {
  draw({ columns: 0, rows: 0 });
  live.show('provision/PO-1', progress('running', [['Place the order', 'done']]));
  expect(seen().map((line) => line.slice(4))).toEqual(['ision/PO-1  running  0s', 'Place the order']);
});

it('tells how long a saga has waited that has begun no step', () => {
  draw({});
  const since = new Date(Date.now() - 125_500).toISOString();
  const queued = { resource: 'server 7', since, before: 1, holder: 'firewalls/FW-1', lookedAt: since };
  live.show('provision/PO-1', { ...progress('queued', [['Have it approved', 'stuck']]), queued });
  expect(seen()[0]).toBe('provision/PO-1  queued  2m 5s');
});

it('shows of many steps those that go on or went wrong, and never more than fit', () => {
  draw({ rows: 6 });
  const many = Array.from({ length: 20 }, (_, index): [string, StepStatus] => [
    `Step ${index}`,
    index < 17 ? 'done' : 'running',
  ]);
  live.show('provision/PO-1', progress('running', many));
  expect(seen().map((line) => line.slice(4))).toEqual(['ision/PO-1  running  0s', 'Step 17', 'Step 18', 'Step 19']);
  live.show('provision/PO-2', progress('running', many));
  expect(seen()).toHaveLength(5);
  expect(seen().at(-1)).toBe('… 4 more lines');
});

it.each([
  [-5, '0s'],
  [59_999, '59s'],
  [60_000, '1m'],
  [3 * 3_600_000 + 20 * 60_000 + 5_000, '3h 20m'],
  [2 * 86_400_000 + 59_000, '2d'],
])('%d ms are %s', (ms, text) => {
  expect(inUnits(ms)).toBe(text);
});
