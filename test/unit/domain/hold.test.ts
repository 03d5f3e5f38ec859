/** A hold that anybody may have started. */
import { readHoldWords } from '../../../src/domain/hold';

it('reads what it can of what somebody typed', () => {
  for (const given of [undefined, null, 7, 'text', [], {}, { by: 3, note: {} }, { by: '' }, { by: ' \u200b' }]) {
    expect(readHoldWords(given)).toEqual({});
  }
  const long = 'x'.repeat(10_000);
  const cut = { by: `${long.slice(0, 199)}…`, note: `${long.slice(0, 499)}…` };
  expect(readHoldWords({ by: long, note: long })).toEqual(cut);
});
