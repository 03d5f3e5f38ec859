/** Which objects came unencrypted. How the worker marks their payloads: test/security. */
import { defaultPayloadConverter } from '@temporalio/common';
import { clearMark } from '../../src/domain/secrets';
import { cameInClear, payloadConverter } from '../../src/workflows/clear-input';

const arrive = (value: unknown, metadata: Record<string, Uint8Array> = {}): unknown => {
  const payload = defaultPayloadConverter.toPayload(value);
  return payloadConverter.fromPayload({ ...payload, metadata: { ...payload.metadata, ...metadata } });
};
const marked = { [clearMark]: new Uint8Array([1]) };

it('one that is marked did, and one that is not did not', () => {
  const clear = arrive({ reference: 'a' }, marked);
  const sealed = arrive({ reference: 'a' });
  expect([clear, sealed]).toEqual([{ reference: 'a' }, { reference: 'a' }]);
  expect(cameInClear(clear)).toBe(true);
  expect(cameInClear(sealed)).toBe(false);
  expect(cameInClear({ reference: 'a' })).toBe(false);
});

it.each([null, 'text', 5, undefined])('%p is no object, marked or not', (value) => {
  expect(arrive(value, marked)).toEqual(value);
  expect(cameInClear(value)).toBe(false);
});

it('a payload without metadata is what the SDK makes of it', () => {
  const read = (converter: typeof payloadConverter) => {
    try {
      return converter.fromPayload({ data: new Uint8Array() });
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(read(payloadConverter)).toBe(read(defaultPayloadConverter));
});

it('what goes out is converted as ever', () => {
  expect(payloadConverter.toPayload({ a: 1 })).toEqual(defaultPayloadConverter.toPayload({ a: 1 }));
});
