/**
 * The sandbox as a process of its own: `npm run sandbox`. It prints one line to standard output when it is ready, and
 * logs to standard error.
 *
 *     SANDBOX_PORT          default 0: any free port
 *     SANDBOX_HOST          default 127.0.0.1
 *     SANDBOX_TOKEN         the bearer token that calls must carry; default none
 *     SANDBOX_FAULT_RATE    0 to 1: the share of calls that fail at random; default 0
 *     SANDBOX_SEED          decides which calls are struck, and how; default 1
 *     SANDBOX_SETTINGS      JSON: any of `settings.ts`
 */
import { z } from 'zod';
import { Sandbox, type SandboxOptions } from './server';
import type { SettingsPatch } from './settings';

const json = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue('must be JSON');
    return z.NEVER;
  }
});

const environmentSchema = z.object({
  SANDBOX_PORT: z.coerce.number('must be a port').int().min(0).max(65_535).default(0),
  SANDBOX_HOST: z.string().default('127.0.0.1'),
  SANDBOX_TOKEN: z.string().min(1).optional(),
  SANDBOX_FAULT_RATE: z.coerce.number('must be a number from 0 to 1').min(0).max(1).default(0),
  SANDBOX_SEED: z.string().default('1'),
  SANDBOX_SETTINGS: json.pipe(z.looseObject({})).default({}),
});

function optionsFrom(environment: NodeJS.ProcessEnv): SandboxOptions {
  // An empty variable counts as not set, as shells and container files usually mean it.
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const set = environmentSchema.parse(given);
  const [seed, rate] = [set.SANDBOX_SEED, set.SANDBOX_FAULT_RATE];
  return {
    // Checked when the sandbox starts.
    ...(set.SANDBOX_SETTINGS as SettingsPatch),
    ...(set.SANDBOX_TOKEN === undefined ? {} : { token: set.SANDBOX_TOKEN }),
    ...(rate === 0 ? {} : { randomFaults: { seed, rate } }),
    port: set.SANDBOX_PORT,
    host: set.SANDBOX_HOST,
    log: (line) => process.stderr.write(`${line}\n`),
  };
}

function whyNot(error: unknown): string {
  if (error instanceof z.ZodError) return `these settings are wrong:\n${z.prettifyError(error)}`;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE')
    return `port ${process.env['SANDBOX_PORT']} is in use; set SANDBOX_PORT to another port, or to 0 for any free port`;
  return message;
}

async function main(): Promise<void> {
  const sandbox = await Sandbox.start(optionsFrom(process.env));
  let stopping = false;
  const stop = (signal: NodeJS.Signals) => {
    if (stopping) return;
    stopping = true;
    process.stderr.write(`stopping on ${signal}\n`);
    void sandbox.close().then(() => process.exit(0));
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.stdout.write(`sandbox ready: ${sandbox.url}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`The sandbox cannot start: ${whyNot(error)}\n`);
  process.exit(1);
});
