/** A hold that anybody may have started. */
import { readHoldStart } from '../../../src/domain/hold';

it('reads what it can of what somebody typed', () => {
  for (const given of [undefined, null, 7, 'text', [], {}, { by: 3, note: {}, forMs: 'x' }, { by: '', forMs: -1 }]) {
    expect(readHoldStart(given)).toEqual({});
  }
  const long = 'x'.repeat(10_000);
  const cut = { by: `${long.slice(0, 199)}…`, note: `${long.slice(0, 499)}…` };
  expect(readHoldStart({ by: long, note: long })).toEqual(cut);
});
