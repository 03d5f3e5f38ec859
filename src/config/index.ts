/** The environment, read once, frozen. A wrong setting stops the program, with a message of all of them. */
export { lookForRenewalMs } from './checks';
export { readClientConfig, readTerminal, type ClientConfig } from './client';
export { readCodecServerConfig } from './codec-server';
export { readProfile } from './parsers';
export { noHighWaterMark, readJournalConfig, type JournalConfig } from './journal';
export { cannotListen, CannotStart, inUrl, SettingsError, type Environment, type ListenAddress } from './settings';
export {
  isRenewed,
  readProviderConfig,
  readWorkerConfig,
  settingsGiven,
  type WorkerConfig,
  type WorkerVersion,
} from './worker';
