/**
 * The environment, read once into frozen typed objects; this folder is the only reader of `process.env` in `src`.
 *
 * A setting that is missing or wrong stops the program at once, with one message that lists all that are.
 */
export { readClientConfig, temporalAddress, type ClientConfig } from './client';
export { readCodecServerConfig, type CodecServerConfig } from './codec-server';
export { readJournalConfig, type JournalConfig } from './journal';
export type { ListenAddress } from './kinds';
export { SettingsError, type Environment } from './settings';
export { readWorkerConfig, type ProviderConfig, type WorkerConfig, type WorkerVersion } from './worker';
