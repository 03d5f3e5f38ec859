/**
 * Runs a program that must not outlive this process's parent: `node tethered.mjs COMMAND ARGUMENT…`, started with an
 * IPC channel. However the parent ends, also by SIGKILL, the system closes the channel, and then the program is ended.
 *
 * TETHERED_GRACE_MS is the time for a graceful end (without it, the program is killed); its output is appended to
 * TETHERED_LOG_FILE. Sends `{ pid }` when the program runs, and `{ ended, said }` with its last output when it has
 * ended.
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

held.once('spawn', () => report({ pid: held.pid }));
held.once('error', (error) => finish(error.message));
held.once('close', (status, signal) => finish(signal ?? `status ${status}`));

// If this process crashed (a log file that cannot be written), nothing would end the program.
process.once('uncaughtException', (error) => {
  held.kill('SIGKILL');
  report({ ended: error.message, said }, () => process.exit(1));
});
process.once('disconnect', end);
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, end);

/** Ends the program, gracefully if TETHERED_GRACE_MS is set. */
function end() {
  held.kill(Number(graceMs) > 0 ? 'SIGTERM' : 'SIGKILL');
  setTimeout(() => held.kill('SIGKILL'), Number(graceMs)).unref();
}

function finish(ended) {
  // The last output often says why; it must be in the log before this process ends.
  const leave = () => report({ ended, said }, () => process.exit());
  if (log === undefined) leave();
  else log.end(leave);
}

function report(message, then = () => {}) {
  if (process.connected) process.send(message, then);
  else then();
}
