/** Converts payloads of clients and workers to what Temporal stores: encrypted where there are keys. */
import type { DataConverter } from '@temporalio/common';
import { EncryptionCodec } from './payload-codec';
import { noKeys, type PayloadKeys } from './keys';

/**
 * The keys of a client must be the worker's.
 *
 * @param payloadConverterPath of a worker: that converter shows it what arrived unencrypted
 */
export function createDataConverter(keys: PayloadKeys | undefined, payloadConverterPath?: string): DataConverter {
  const failureConverterPath = failureConverterPathOf(keys !== undefined);
  const marks = keys !== undefined && payloadConverterPath !== undefined;
  return {
    payloadCodecs: [new EncryptionCodec(keys ?? noKeys, { replaces: true, marks })],
    failureConverterPath,
    ...(marks ? { payloadConverterPath } : {}),
  };
}

/** The same path for the bundle of the workflows, and for client and worker. */
export function failureConverterPathOf(encrypted: boolean): string {
  return encrypted ? require.resolve('./encrypted-failure-converter') : require.resolve('./failure-converter');
}
