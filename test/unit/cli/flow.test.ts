/** A result that may be long: it goes on only while somebody reads. */
import { Writable } from 'node:stream';
import { Printer } from '../../../src/cli/print';

const printerTo = (write: (done: (error?: Error) => void) => void) => {
  const out = new Writable({
    autoDestroy: false,
    write: (_chunk, _encoding, done) => {
      write(done);
    },
  });
  out.on('error', () => undefined);
  return new Printer({ out, err: out }, false);
};

it('waits until the reader has taken it', async () => {
  const taken: (() => void)[] = [];
  const printer = printerTo((done) => taken.push(done));
  let isTaken = false;
  const flowing = printer.flow('a row').then((isRead) => {
    isTaken = true;
    return isRead;
  });
  await new Promise(setImmediate);
  expect(isTaken).toBe(false);
  taken[0]?.();
  expect(await flowing).toBe(true);
});

it('says that the reader is gone, each time', async () => {
  const printer = printerTo((done) => {
    done(Object.assign(new Error('broken pipe'), { code: 'EPIPE' }));
  });
  expect(await printer.flow('a row')).toBe(false);
  expect(await printer.flow('another')).toBe(false);
});
