/**
 * Which objects reached this workflow in the clear. The worker's codec marks a payload that was not encrypted; this
 * converter, in place of the default one, remembers the object that it becomes. Only workers with keys do either.
 */
import { defaultPayloadConverter, type Payload, type PayloadConverter } from '@temporalio/common';
import { plaintextMark } from '../domain/secrets';

const arrivedAsPlaintext = new WeakSet<object>();

export function cameAsPlaintext(input: unknown): boolean {
  return typeof input === 'object' && input !== null && arrivedAsPlaintext.has(input);
}

export const payloadConverter: PayloadConverter = {
  toPayload: (value) => defaultPayloadConverter.toPayload(value),
  fromPayload: (payload: Payload) => {
    const value: unknown = defaultPayloadConverter.fromPayload(payload);
    if (payload.metadata?.[plaintextMark] && typeof value === 'object' && value !== null) arrivedAsPlaintext.add(value);
    return value as never;
  },
};
