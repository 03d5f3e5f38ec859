/** What others have written does not steer a terminal; and a person who says nothing has not said yes. */
import { PassThrough } from 'node:stream';
import { decideMany } from '../../../src/cli/many-commands';
import { Printer } from '../../../src/cli/print';
import { Watching } from '../../../src/cli/watching';

const preview = { asked: 'retry all that wait', perSecond: 5, count: 3, sagas: [], beyond: 0 };
jest.mock('../../../src/cli/connect', () => ({
  withSagas: (work: (sagas: unknown) => unknown) => work({ previewMany: () => Promise.resolve(preview) }),
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

it('a document has the same value, escaped', () => {
  printer(true).document({ words });
  expect(JSON.parse(said)).toEqual({ words });
  expect(said).not.toMatch(/[\u0080-\u009f\u202e\u2066]/);
});

it('a question that quotes a provider is one line', () => {
  const waiting = { id: 'q', kind: 'stuck', step: 's', choices: [], since: '2026-11-27T00:00:00Z' };
  const question = 'It says: quota\n  order-saga decide provision/PO-1 confirmNotPlaced';
  new Watching(printer()).progress({ steps: [], waiting: { ...waiting, question } } as never, 'provision/PO-1');
  expect(said).toContain('  It says: quota order-saga decide provision/PO-1 confirmNotPlaced\n');
});

it.each(['', 'no\n', 'no'])('after %j nothing is started: status 2', async (typed) => {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const came = decideMany({ printer: printer(), stdin }, 'retry', { all: true, by: 'ann', note: 'it is back' });
  await new Promise(setImmediate);
  stdin.end(typed);
  expect(await came).toMatchObject({ status: 2 });
  expect(said).toMatch(/Type yes:\nnothing was started\n$/);
});
