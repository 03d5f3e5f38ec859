#!/usr/bin/env node
/** The entry of the command line. */
import { onLeave, readerIsGone } from './config/stop-signals';
import { exitStatus } from './cli/exit-status';
import { run } from './cli/program';

// The reader of our output may stop early (`| head`): that is no failure, and ends what only watches.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  readerIsGone();
});
// What it came to stands in the exit status, too.
process.stderr.on('error', () => undefined);

// A call that nobody awaits any more may be about to be repeated when its connection is closed: the SDK's timer then
// throws. That says nothing about what the command has found out.
process.on('uncaughtException', (error) => {
  if (error.message === 'Channel has been shut down') return;
  console.error(error);
  process.exit(exitStatus.broken);
});

const terminal = { out: process.stdout, err: process.stderr, stdin: process.stdin, onLeave };
void run(process.argv.slice(2), terminal).then((status) => {
  process.exitCode = status;
});
