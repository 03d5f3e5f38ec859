/**
 * The codec server's process: reads its settings, listens, says that it is ready, and runs until it is told to stop
 * (SIGTERM, SIGINT). It knows neither Temporal's address nor the provider's: it turns payloads over, and no more.
 */
import { pino } from 'pino';
import { readCodecServerConfig, SettingsError } from './config';
import { startCodecServer } from './security/codec-server/server';

/** The worker's log loads Temporal's core, which a process that holds keys and a socket has no use for. */
function createLog(): pino.Logger {
  // No level to choose: who read what is not a matter of taste.
  return pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ dest: 2, sync: true }));
}

async function main(): Promise<void> {
  const config = readCodecServerConfig();
  const log = createLog();
  const server = await startCodecServer({ ...config, log }).catch((error: unknown) => {
    throw new NoAddressToListenOn(whyNot(error as NodeJS.ErrnoException, config));
  });
  if (config.tokens.length === 0 && config.jwt === undefined) {
    log.warn('nobody is asked for a token: whoever can use this machine can read payloads');
  }
  const stop = (signal: NodeJS.Signals) => {
    log.info({ signal }, 'stopping');
    void server.stop();
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.stdout.write(`codec server ready: ${server.url}\n`);
}

class NoAddressToListenOn extends Error {}

function whyNot({ code, message }: NodeJS.ErrnoException, { host, port }: { host: string; port: number }): string {
  if (code === 'EADDRINUSE') return `port ${port} is in use; set CODEC_PORT to another, or to 0 for any that is free`;
  if (code === 'EACCES') return `port ${port} may not be used; set CODEC_PORT to one above 1023`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return `this machine has no address ${host}; fix CODEC_HOST`;
  return message;
}

main().catch((error: unknown) => {
  const expected = error instanceof SettingsError || error instanceof NoAddressToListenOn;
  process.stderr.write(
    `codec server cannot start: ${expected ? error.message : String((error as Error).stack ?? error)}\n`,
  );
  process.exitCode = 1;
});
