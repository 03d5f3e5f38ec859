/**
 * Which objects reached this workflow in the clear. The worker's codec marks a payload that was not encrypted; this
 * converter, in place of the default one, remembers the object that it becomes. Only workers with keys do either.
 */
import { defaultPayloadConverter, type Payload, type PayloadConverter } from '@temporalio/common';
import { clearMark } from '../domain/secrets';

const arrivedInClear = new WeakSet<object>();

export function cameInClear(input: unknown): boolean {
  return typeof input === 'object' && input !== null && arrivedInClear.has(input);
}

export const payloadConverter: PayloadConverter = {
  toPayload: (value) => defaultPayloadConverter.toPayload(value),
  fromPayload: (payload: Payload) => {
    const value: unknown = defaultPayloadConverter.fromPayload(payload);
    if (payload.metadata?.[clearMark] && typeof value === 'object' && value !== null) arrivedInClear.add(value);
    return value as never;
  },
};
