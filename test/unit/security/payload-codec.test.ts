import { ApplicationFailure, defaultPayloadConverter, type Payload } from '@temporalio/common';
import { payloadOf } from '../../support/payloads';
import { fc } from '../../support/properties';
import { isUnsealed, ofCall } from '../../../src/domain/unsealed';
import { payloadConverter } from '../../../src/saga/payload-converter';
import { failureConverter } from '../../../src/security/encrypted-failure-converter';
import { parsePayloadKeys } from '../../../src/security/keys';
import { DecryptionError, EncryptionCodec } from '../../../src/security/payload-codec';
import { newKey } from '../../support/keys';

const [one, two] = [newKey(), newKey()];
const codec = new EncryptionCodec(parsePayloadKeys(`k1:${one}`));
const metadataOf = ({ metadata }: Payload) =>
  Object.fromEntries(Object.entries(metadata ?? {}).map(([name, bytes]) => [name, Buffer.from(bytes).toString()]));
async function only(payloads: Promise<Payload[]>): Promise<Payload> {
  const [payload] = await payloads;
  if (payload === undefined) throw new Error('no payload');
  return payload;
}

it('gives back what it was given', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.jsonValue()), async (values) => {
      const payloads = values.map(payloadOf);
      const decoded = await codec.decode(await codec.encode(payloads));
      expect(decoded.map((payload) => defaultPayloadConverter.fromPayload(payload))).toEqual(
        payloads.map((payload) => defaultPayloadConverter.fromPayload(payload)),
      );
    }),
  );
});

it('writes the wire format of the encryption samples', async () => {
  const encrypted = await only(codec.encode([payloadOf('a secret')]));
  expect(metadataOf(encrypted)).toEqual({
    encoding: 'binary/encrypted',
    'encryption-cipher': 'AES/GCM/NoPadding',
    'encryption-key-id': 'k1',
  });
  expect(Buffer.from(encrypted.data ?? []).toString('latin1')).not.toContain('a secret');
});

it('lets pass what is not encrypted; for a worker it marks it, and what its own key does not decrypt', async () => {
  const clear = payloadOf({ by: 'op' });
  expect(await codec.decode([clear])).toEqual([clear]);
  const marking = new EncryptionCodec(parsePayloadKeys(`k1:${one}`), { marks: true });
  expect(metadataOf(await only(marking.decode([clear])))).toMatchObject({ 'order-saga-clear': 'true' });
  const encrypted = await marking.encode([clear]);
  expect(metadataOf(await only(marking.decode(encrypted)))).not.toHaveProperty('order-saga-clear');
  const ofAnotherKey = await new EncryptionCodec(parsePayloadKeys(`k1:${two}`)).encode([clear]);
  const altered = await only(marking.decode(ofAnotherKey));
  expect(metadataOf(altered)).toMatchObject({ 'order-saga-clear': 'true' });
  expect(defaultPayloadConverter.fromPayload(altered)).toBe('a payload that cannot be read');
  await expect(
    marking.decode(await new EncryptionCodec(parsePayloadKeys(`k2:${two}`)).encode([clear])),
  ).rejects.toThrow(/“k2”/);
});

describe('what is sealed for a call of an activity', () => {
  const context = {
    type: 'activity' as const,
    namespace: 'n',
    workflowId: 'change/A',
    activityId: '3',
    isLocal: false,
  };
  const others = [{ workflowId: 'change/B' }, { activityId: '4' }].map((other) => ({ ...context, ...other }));

  it('counts for that call alone, and an answer is no argument', () => {
    const answer = payloadConverter.toPayload({ total: 1 }, context);
    // Outside of a workflow an activity reads its arguments.
    const argument = ofCall(payloadOf({ total: 1 }), 'argument', context);
    expect(isUnsealed(payloadConverter.fromPayload(argument, context))).toBe(false);
    const foreign = [...others.map((other) => [argument, other] as const), [answer, context] as const];
    expect(foreign.map(([payload, of]) => isUnsealed(payloadConverter.fromPayload(payload, of)))).toEqual([
      ...[true, true, true],
    ]);
    expect(isUnsealed(payloadConverter.fromPayload(payloadOf({ total: 1 }), context))).toBe(true);
    const ofRun = { type: 'workflow' as const, namespace: 'n', workflowId: 'change/A' };
    expect(isUnsealed(payloadConverter.fromPayload(payloadConverter.toPayload({}, ofRun), ofRun))).toBe(false);
  });

  it('counts so as a failure, with its causes, and an answer is none', () => {
    const cause = ApplicationFailure.nonRetryable('a cause', 'Cause', { why: 'x' });
    const error = ApplicationFailure.create({
      message: 'no',
      type: 'Rejected',
      details: [{ failure: 'Rejected' }],
      cause,
    });
    const failure = failureConverter.errorToFailure(error, payloadConverter, context);
    const read = (one: typeof failure, of = context) => failureConverter.failureToError(one, payloadConverter, of);
    expect(read(failure)).toMatchObject({
      type: 'Rejected',
      details: [{ failure: 'Rejected' }],
      cause: { type: 'Cause' },
    });
    for (const other of others) expect(read(failure, other)).toMatchObject({ type: 'NotBelieved' });
    const details = { payloads: [payloadConverter.toPayload({ failure: 'Rejected' }, context)] };
    const made = { ...failure, applicationFailureInfo: { ...failure.applicationFailureInfo, details } };
    expect(read(made)).toMatchObject({ type: 'NotBelieved' });
  });
});

describe('what cannot be read is an error that names the key', () => {
  const encrypted = () => only(codec.encode([payloadOf('a secret that is long enough')]));

  it('of an unknown id', async () => {
    const other = new EncryptionCodec(parsePayloadKeys(`k2:${two}`));
    await expect(other.decode([await encrypted()])).rejects.toThrow(/“k1”.*not among PAYLOAD_KEYS \(k2\)/);
  });

  it('of another key under the same id', async () => {
    const other = new EncryptionCodec(parsePayloadKeys(`k1:${two}`));
    await expect(other.decode([await encrypted()])).rejects.toThrow(/“k1”.*does not decrypt/);
  });

  it('cut off anywhere, or with any bit altered', async () => {
    const payload = await encrypted();
    const data = Buffer.from(payload.data ?? []);
    await fc.assert(
      fc.asyncProperty(fc.nat(data.length - 1), fc.nat(7), async (at, bit) => {
        const altered = Buffer.from(data);
        altered[at] = (altered[at] ?? 0) ^ (1 << bit);
        await expect(codec.decode([{ ...payload, data: altered }])).rejects.toThrow(DecryptionError);
        await expect(codec.decode([{ ...payload, data: data.subarray(0, at) }])).rejects.toThrow(/“k1”/);
      }),
    );
  });

  it('without saying anything of the content', async () => {
    const payload = await encrypted();
    const error = await codec.decode([{ ...payload, data: Buffer.alloc(50) }]).catch(String);
    expect(error).not.toMatch(/secret/);
  });
});

describe('keys', () => {
  it.each([
    ['k1:c2hvcnQ=', /key k1 is 5 bytes long; it must be 32/],
    [`k1:${one},k1:${two}`, /k1 is given twice/],
    [one, /key 1 must be an id/],
    [`k1:${one},`, /key 2 must be an id/],
    ['', /key 1 must be an id/],
    [`k 1:${one}`, /key 1 must be an id/],
  ])('%p are refused', (text, message) => {
    expect(() => parsePayloadKeys(text)).toThrow(message);
  });
});
