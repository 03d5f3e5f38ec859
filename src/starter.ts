#!/usr/bin/env node
/** The entry of the command line. */
import { run } from './cli/program';

// Whoever reads our output may have seen enough (`| head`); that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

void run(process.argv.slice(2), { out: process.stdout, err: process.stderr, stdin: process.stdin }).then((status) => {
  process.exitCode = status;
});
