/** The words of others do not steer a terminal; and a person who says nothing has not said yes. */
import { PassThrough, Readable, Writable } from 'node:stream';
import { decideMany } from '../../../src/cli/many-commands';
import { inColumns, Printer } from '../../../src/cli/print';
import { purchases } from '../../../src/cli/purchases';
import { Watching } from '../../../src/cli/watching';

const found = {
  sagas: [{ workflowId: 'change/1', question: 'q', waitingSince: new Date(0), step: 's', kind: 'stuck' }],
  more: 0,
};
jest.mock('../../../src/cli/connect', () => ({
  withSagas: (work: (sagas: unknown) => unknown) => work({ waiting: () => Promise.resolve(found) }),
}));

const by = ['=ann\nPO-2\u009b2J'];
jest.mock('../../../src/journal/purchases', () => ({
  async *bought() {
    yield await Promise.resolve({ reference: 'PO-1', vmObjectIds: [], metadata: {}, by });
  },
}));
jest.mock('../../../src/cli/journal-commands', () => ({
  withJournal: (_how: unknown, work: (journal: unknown) => unknown) => work({}),
}));

let said: string;
beforeEach(() => {
  said = '';
});
const write = (text: string) => (said += text);
const printer = (json = false) => new Printer({ out: { write }, err: { write } }, json);

const words = '\u009b2J\u202edecalp \u2066ton';

it('a line neither moves the cursor nor is turned around', () => {
  printer().line(words);
  expect(said).toBe(' 2J decalp  ton\n');
});

it.each<[what: string, print: (words: string) => unknown]>([
  ['a note', (note) => printer().lines([`  left over: cart item 7: ${note}`])],
  ['a cell', (cell) => printer().table([[cell]])],
  ['a row that flows', (cell) => printer().flow(Readable.from([inColumns([cell], [0])]))],
  [
    'an ending',
    (message) => {
      const failure = { type: 'OrderRejected', message, report: { outcome: 'reversed', leftovers: [] } };
      new Watching(printer()).ending({ state: 'failed', failure } as never, 'provision/PO-1');
    },
  ],
])('no word of %s looks like a line of ours', async (_what, print) => {
  await print('no\nprovision/PO-2 is done');
  expect(said).toMatch(/no provision\/PO-2 is done/);
});

it.each(['table', 'csv', 'json'] as const)('a purchase as %s steers nothing', async (format) => {
  await purchases({ printer: printer() } as never, { format });
  expect(said).not.toContain('\u009b');
  expect(said).not.toMatch(/^PO-2/m);
  if (format === 'csv') expect(said).toContain(`"'=ann PO-2 2J"`);
  if (format === 'json') expect(JSON.parse(said)).toMatchObject([{ by }]);
});

it('a message of several lines stays one', () => {
  printer().toStderr('settings that are wrong:\n  one\n  another');
  expect(said).toBe('settings that are wrong:\n  one\n  another\n');
});

it('a document has the same value, escaped', () => {
  const [startTime, item] = [new Date(0), { password: { secret: 'web' } }];
  printer(true).document({ words, startTime, item });
  expect(JSON.parse(said)).toEqual({ words, startTime: startTime.toISOString(), item });
  expect(said).not.toMatch(/[\u0080-\u009f\u202e\u2066]/);
});

it('a question that quotes a provider is one line', () => {
  const waiting = { id: 'q', kind: 'stuck', step: 's', choices: [], since: '2026-11-27T00:00:00Z' };
  const question = 'It says: quota\n  order-saga decide provision/PO-1 confirmNotPlaced';
  new Watching(printer()).progress({ steps: [], waiting: { ...waiting, question } } as never, 'provision/PO-1');
  expect(said).toContain('  It says: quota order-saga decide provision/PO-1 confirmNotPlaced\n');
});

it('a choice says what it does in this saga', () => {
  const since = '2026-11-27T00:00:00Z';
  const waiting = {
    id: 'q',
    kind: 'outcome-unknown',
    step: 's',
    choices: ['confirmNotPlaced'],
    since,
    question: 'Is it?',
  };
  new Watching(printer()).progress({ workflow: 'cleanCart', steps: [], waiting } as never, 'clean/PO-1');
  expect(said).toMatch(/ clean\/PO-1 confirmNotPlaced .* # sends nothing: deletes the cart items$/m);
});

it.each(['', 'no\n', 'no'])('after %j nothing is started: status 2', async (typed) => {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const options = { all: true, by: 'ann', note: 'it is back', rate: 5, limit: 10 };
  const came = decideMany({ printer: printer(), stdin }, 'retry', options);
  await new Promise(setImmediate);
  stdin.end(typed);
  expect(await came).toMatchObject({ status: 2 });
  expect(said).toMatch(/Type yes:\nnothing was started\n$/);
});

it.each([
  ['is made as its reader takes it', undefined, 1_000],
  ['ends with its reader', Object.assign(new Error('broken pipe'), { code: 'EPIPE' }), 3],
])('a result that may be long %s', async (_what, gone, most) => {
  let [made, taken] = [0, 0];
  async function* rows() {
    for (; made < 1_000; made += 1) yield await Promise.resolve('a row');
  }
  const out = new Writable({
    highWaterMark: 1,
    write: (_chunk, _encoding, done) => {
      taken += 1;
      expect(made - taken).toBeLessThan(2);
      setImmediate(done, gone);
    },
  });
  out.on('error', () => undefined);
  await new Printer({ out, err: out }, false).flow(rows());
  expect(made).toBeLessThanOrEqual(most);
  expect(taken).toBe(gone ? 1 : 1_000);
});
