#!/usr/bin/env node
/** The entry of the command line. */
import { exitStatus } from './cli/exit-status';
import { run } from './cli/program';

// The reader of our output may stop early (`| head`); that is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

// A call that nobody awaits any more may be about to be repeated when its connection is closed: the SDK's timer then
// throws. That says nothing about what the command has found out.
process.on('uncaughtException', (error) => {
  if (error.message === 'Channel has been shut down') return;
  console.error(error);
  process.exit(exitStatus.broken);
});

void run(process.argv.slice(2), { out: process.stdout, err: process.stderr, stdin: process.stdin }).then((status) => {
  process.exitCode = status;
});
