/** Payloads as Temporal carries them: whole ones, and some that nobody can read. */
import { defaultPayloadConverter, type Payload } from '@temporalio/common';

export const payloadOf = (value: unknown): Payload => defaultPayloadConverter.toPayload(value);

export const encoded = (encoding: string, data: string | Uint8Array): Payload => ({
  metadata: { encoding: Buffer.from(encoding) },
  data: Buffer.from(data),
});

export const unreadable: [string, Payload[]][] = [
  ['JSON that breaks off', [encoded('json/plain', '{"by":')]],
  ['JSON that is empty', [encoded('json/plain', '')]],
  ['an encoding of another SDK', [encoded('json/protobuf', '{}')]],
  ['no encoding', [{ data: Buffer.from('{}') }]],
];
