#!/usr/bin/env node
/** The entry of the command line. */
import { run } from './cli/program';

// The reader of our output may stop early (`| head`); that is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

void run(process.argv.slice(2), { out: process.stdout, err: process.stderr, stdin: process.stdin }).then((status) => {
  process.exitCode = status;
});
