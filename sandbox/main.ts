/**
 * The sandbox as a process of its own: `npm run sandbox`. It prints one line to standard output when it is ready, and
 * logs to standard error.
 *
 *     SANDBOX_PORT          default 0: any free port
 *     SANDBOX_HOST          default 127.0.0.1
 *     SANDBOX_TOKEN         the bearer token that calls must carry; default none
 *     SANDBOX_SETTINGS      JSON: any of `settings.ts`
 */
import { once } from 'node:events';
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
  SANDBOX_SETTINGS: json.pipe(z.looseObject({})).default({}),
});

function optionsFrom(environment: NodeJS.ProcessEnv): SandboxOptions {
  // An empty variable counts as not set, as in shells and container files.
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const set = environmentSchema.parse(given);
  return {
    // Checked when the sandbox starts.
    ...(set.SANDBOX_SETTINGS as SettingsPatch),
    ...(set.SANDBOX_TOKEN === undefined ? {} : { token: set.SANDBOX_TOKEN }),
    port: set.SANDBOX_PORT,
    host: set.SANDBOX_HOST,
    log: (line) => process.stderr.write(`${line}\n`),
  };
}

async function main(): Promise<void> {
  const sandbox = await Sandbox.start(optionsFrom(process.env));
  process.stdout.write(`sandbox ready: ${sandbox.url}\n`);
  await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
  await sandbox.close();
}

main().catch((error: unknown) => {
  const why = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
  process.stderr.write(`The sandbox cannot start: ${why}\n`);
  process.exitCode = 1;
});
