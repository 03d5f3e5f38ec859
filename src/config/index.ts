/**
 * The environment, read once into frozen typed objects. In `src`, only this folder reads `process.env`.
 *
 * A missing or wrong setting stops the program at once, with one message that lists all such settings.
 */
export { CannotListen, inUrl } from './cannot-listen';
export { readClientConfig, temporalAddress, type ClientConfig } from './client';
export { readCodecServerConfig, type CodecServerConfig } from './codec-server';
export { readJournalConfig, type JournalConfig } from './journal';
export type { ListenAddress } from './kinds';
export { SettingsError, type Environment } from './settings';
export { readTerminal, type Terminal } from './terminal';
export {
  readProviderConfig,
  readWorkerConfig,
  settingsGiven,
  type OutageConfig,
  type ProviderConfig,
  type WorkerConfig,
  type WorkerVersion,
} from './worker';
