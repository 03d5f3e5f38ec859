/** Converts payloads of clients and workers to what Temporal stores: encrypted where there are keys. */
import type { DataConverter } from '@temporalio/common';
import { EncryptionCodec, ReadablePayloads } from './payload-codec';
import type { PayloadKeys } from './keys';

/**
 * The keys of a client must be the worker's. The last codec decodes first.
 *
 * @param payloadConverterPath of a worker: that converter shows the workflows which requests arrived unencrypted
 */
export function createDataConverter(keys: PayloadKeys | undefined, payloadConverterPath?: string): DataConverter {
  const failureConverterPath = failureConverterPathOf(keys !== undefined);
  if (keys === undefined) return { payloadCodecs: [new ReadablePayloads()], failureConverterPath };
  const marksClear = payloadConverterPath !== undefined;
  return {
    payloadCodecs: [new ReadablePayloads(), new EncryptionCodec(keys, { marksClear })],
    failureConverterPath,
    ...(marksClear ? { payloadConverterPath } : {}),
  };
}

/** The same path for the bundle of the workflows, and for client and worker. */
export function failureConverterPathOf(encrypted: boolean): string {
  return encrypted ? require.resolve('./encrypted-failure-converter') : require.resolve('./failure-converter');
}
