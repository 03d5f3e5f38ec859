/**
 * The environment, read once into frozen typed objects; with src/config/, the only reader of `process.env` in `src`.
 *
 * A setting that is missing or wrong stops the program at once, with one message that lists all that are.
 */
export { readClientConfig, temporalAddress, type ClientConfig } from './config/client';
export { readCodecServerConfig, type CodecServerConfig } from './config/codec-server';
export { readJournalConfig, type JournalConfig } from './config/journal';
export type { ListenAddress } from './config/kinds';
export { SettingsError, type Environment } from './config/settings';
export { readWorkerConfig, type ProviderConfig, type WorkerConfig, type WorkerVersion } from './config/worker';
