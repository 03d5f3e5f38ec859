/**
 * Converts payloads of clients and workers to what Temporal stores: encrypted where there are keys, else as they are.
 */
import type { DataConverter } from '@temporalio/common';
import { EncryptionCodec } from './payload-codec';
import type { PayloadKeys } from './keys';
import { ReadablePayloads } from './readable-payloads';

/** The converter of a client, whose keys must be the worker's. The last codec decodes first. */
export function createDataConverter(keys: PayloadKeys | undefined): DataConverter {
  if (keys === undefined) return { payloadCodecs: [new ReadablePayloads()] };
  return { payloadCodecs: [new ReadablePayloads(), new EncryptionCodec(keys)], failureConverterPath };
}

/** The converter of a worker: it also marks requests that arrived unencrypted, for the workflows. */
export function createWorkerDataConverter(keys: PayloadKeys | undefined, payloadConverterPath: string): DataConverter {
  if (keys === undefined) return { payloadCodecs: [new ReadablePayloads()] };
  return {
    payloadCodecs: [new ReadablePayloads(), new EncryptionCodec(keys, { marksClear: true })],
    failureConverterPath,
    payloadConverterPath,
  };
}

export const failureConverterPath = require.resolve('./failure-converter');
