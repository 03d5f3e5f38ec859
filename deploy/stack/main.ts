/**
 * A production-like server for trying things out, and for the tests:
 *
 *   npm run stack                         at localhost:7233, until Ctrl-C
 *   npm run stack -- --ui                 with the Web UI at localhost:8233
 *   npm run stack -- --run 'npm test'     for as long as the command runs, which finds it at TEMPORAL_ADDRESS, and the
 *                                         journal's database at JOURNAL_URL; its status is this one's. With --ui, tests
 *                                         find the Web UI too
 *
 * The versions are those of docker-compose.yml. ORDER_SAGA_SERVER_VERSION=1.29.1 and ORDER_SAGA_UI_VERSION=2.42.1
 * choose others, ORDER_SAGA_POSTGRES the folder of another PostgreSQL's programs.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { parseArgs } from 'node:util';
import { runProgram } from '../../scripts/program';
import { startStack, type Stack } from './stack';

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { ui: { type: 'boolean', default: false }, run: { type: 'string' } } });
  // Asked for before the start: what was begun is ended in good order, too.
  const interrupted = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  process.stderr.write('waiting for PostgreSQL and a Temporal server…\n');
  // For a command any port will do; a person types the usual one.
  const ports = values.run === undefined ? { port: 7233, ...(values.ui ? { uiPort: 8233 } : {}) } : {};
  const stack = await startStack({ ui: values.ui, ...ports });
  try {
    if (values.run === undefined) {
      const { address, journalUrl, uiUrl = 'off', folder } = stack;
      // With its password: it is of this stack alone, on this machine alone, and whoever starts a worker here needs it.
      console.log(`stack ready: Temporal ${address}, JOURNAL_URL=${journalUrl}, Web UI ${uiUrl}, logs in ${folder}`);
      const stillRunning = setInterval(() => undefined, 60_000);
      await interrupted;
      clearInterval(stillRunning);
    } else {
      process.exitCode = await statusOf(values.run, stack, interrupted);
    }
  } finally {
    await stack.stop();
  }
}

/** @returns as a shell has it: 128 and the signal's number for a command that a signal ended */
async function statusOf(command: string, stack: Stack, interrupted: Promise<unknown>): Promise<number> {
  const found = {
    TEMPORAL_ADDRESS: stack.address,
    JOURNAL_URL: stack.journalUrl,
    ...(stack.uiUrl === undefined ? {} : { ORDER_SAGA_TEST_TEMPORAL_UI: stack.uiUrl }),
  };
  const child = spawn('sh', ['-c', command], { stdio: 'inherit', env: { ...process.env, ...found } });
  void interrupted.then(() => child.kill('SIGTERM'));
  const [status, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  return status ?? 128 + (signal === null ? 0 : constants.signals[signal]);
}

runProgram(module, main);
