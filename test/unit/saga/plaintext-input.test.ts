/** Which objects came unencrypted. How the worker marks their payloads: test/integration/security. */
import { defaultPayloadConverter } from '@temporalio/common';
import { plaintextMark } from '../../../src/domain/secrets';
import { cameAsPlaintext, payloadConverter } from '../../../src/saga/plaintext-input';

const arrive = (value: unknown, metadata: Record<string, Uint8Array> = {}): unknown => {
  const payload = defaultPayloadConverter.toPayload(value);
  return payloadConverter.fromPayload({ ...payload, metadata: { ...payload.metadata, ...metadata } });
};
const marked = { [plaintextMark]: new Uint8Array([1]) };

it('one that is marked did, and one that is not did not', () => {
  const clear = arrive({ reference: 'a' }, marked);
  const sealed = arrive({ reference: 'a' });
  expect([clear, sealed]).toEqual([{ reference: 'a' }, { reference: 'a' }]);
  expect(cameAsPlaintext(clear)).toBe(true);
  expect(cameAsPlaintext(sealed)).toBe(false);
  expect(cameAsPlaintext({ reference: 'a' })).toBe(false);
});

it.each([null, 'text', 5, undefined])('%p is no object, marked or not', (value) => {
  expect(arrive(value, marked)).toEqual(value);
  expect(cameAsPlaintext(value)).toBe(false);
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
