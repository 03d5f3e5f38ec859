/** The codec server's process: it knows no address of Temporal or the provider, and runs until a signal. */
import { onStop } from './config/stop-signals';
import { isDeepStrictEqual } from 'node:util';
import { pino } from 'pino';
import { cannotListen, CannotStart, lookForRenewalMs, readCodecServerConfig } from './config';
import { tryOr } from './domain/ignore-errors';
import { startCodecServer } from './security/codec-server/server';

async function main(): Promise<void> {
  const config = readCodecServerConfig();
  // Not the worker's log, which loads Temporal's core. The level is fixed: it always says who read what.
  const output = pino.destination({ dest: 2, sync: true });
  // A line that cannot be written is lost; who asks is answered all the same.
  output.on('error', () => undefined);
  const log = pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, output);
  const server = await startCodecServer({ ...config, log }).catch((error: unknown) => {
    throw cannotListen('CODEC_ADDRESS', config, error);
  });
  if (config.tokens.length === 0 && config.jwt === undefined) {
    log.warn('no token is required: everyone who can use this machine can read payloads');
  }
  let { tls } = config;
  const renewals = setInterval(() => {
    // Certificate and key may come one by one.
    const now = tryOr(() => readCodecServerConfig().tls, tls);
    if (now !== undefined && !isDeepStrictEqual(now, tls)) server.renew((tls = now));
  }, lookForRenewalMs);
  renewals.unref();
  onStop((signal) => {
    log.info({ signal }, 'stopping');
    void server.stop();
  });
  process.stdout.write(`codec server ready: ${server.url}\n`);
}

main().catch((error: unknown) => {
  const expected = error instanceof CannotStart;
  process.stderr.write(
    `codec server cannot start: ${expected ? error.message : String((error as Error).stack ?? error)}\n`,
  );
  process.exitCode = 1;
});
