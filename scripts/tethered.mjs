/**
 * Holds a program that must not outlive the one who asked for it: `node tethered.mjs COMMAND ARGUMENT…`, started with an
 * IPC channel. However the asker ends, by SIGKILL too, the system closes the channel, and then the program is ended.
 *
 * TETHERED_GRACE_MS is how long it may take to end in good order (without it, it is killed), TETHERED_LOG_FILE what its
 * output is added to. Sends `{ pid }` when the program runs, and `{ ended, said }` with the last of its output when it has ended.
 */
import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';

const saidMax = 8_000;

const [command, ...args] = process.argv.slice(2);
const { TETHERED_LOG_FILE: logFile, TETHERED_GRACE_MS: graceMs, ...env } = process.env;
const log = logFile ? createWriteStream(logFile, { flags: 'a' }) : undefined;
const held = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });

let said = '';
for (const stream of [held.stdout, held.stderr]) {
  stream.on('data', (chunk) => {
    said = (said + chunk).slice(-saidMax);
    log?.write(chunk);
  });
}

held.once('spawn', () => tell({ pid: held.pid }));
held.once('error', (error) => finish(error.message));
held.once('close', (status, signal) => finish(signal ?? `status ${status}`));

// Were this process to fall over its own feet (a log file that cannot be written), nobody would hold the program.
process.once('uncaughtException', (error) => {
  held.kill('SIGKILL');
  tell({ ended: error.message, said }, () => process.exit(1));
});
process.once('disconnect', end);
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, end);

/** In good order, where a time is given for it. */
function end() {
  held.kill(Number(graceMs) > 0 ? 'SIGTERM' : 'SIGKILL');
  setTimeout(() => held.kill('SIGKILL'), Number(graceMs)).unref();
}

function finish(ended) {
  // What was said last is often why; it must be in the log before this process is gone.
  const leave = () => tell({ ended, said }, () => process.exit());
  if (log === undefined) leave();
  else log.end(leave);
}

function tell(message, then = () => {}) {
  if (process.connected) process.send(message, then);
  else then();
}
