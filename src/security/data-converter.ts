/**
 * Converts payloads of clients and workers to what Temporal stores: encrypted where there are keys, else as they are.
 */
import type { DataConverter } from '@temporalio/common';
import { EncryptionCodec } from './payload-codec';
import type { PayloadKeys } from './keys';
import { ReadablePayloads } from './readable-payloads';

/** The converter of a client, whose keys must be the worker's. The last codec decodes first. */
export function createDataConverter(keys: PayloadKeys | undefined): DataConverter {
  const failureConverterPath = failureConverterPathOf(keys !== undefined);
  if (keys === undefined) return { payloadCodecs: [new ReadablePayloads()], failureConverterPath };
  return { payloadCodecs: [new ReadablePayloads(), new EncryptionCodec(keys)], failureConverterPath };
}

/** The converter of a worker: it also marks requests that arrived unencrypted, for the workflows. */
export function createWorkerDataConverter(keys: PayloadKeys | undefined, payloadConverterPath: string): DataConverter {
  const failureConverterPath = failureConverterPathOf(keys !== undefined);
  if (keys === undefined) return { payloadCodecs: [new ReadablePayloads()], failureConverterPath };
  return {
    payloadCodecs: [new ReadablePayloads(), new EncryptionCodec(keys, { marksClear: true })],
    failureConverterPath,
    payloadConverterPath,
  };
}

/** The same path for the bundle of the workflows, and for client and worker. */
export function failureConverterPathOf(encrypted: boolean): string {
  return encrypted ? require.resolve('./encrypted-failure-converter') : require.resolve('./failure-converter');
}
