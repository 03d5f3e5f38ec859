/** What is thrown beside a command, in a timer of the SDK, and how the command ends then. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCommand } from '../../support/command-line';
import { itInWays } from '../../support/left-out';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'order-saga-late-errors-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** Thrown when the command has begun, and keeps the process alive until then. */
async function endsAfter(message: string) {
  const preload = join(folder, 'preload.cjs');
  const thrown = `throw new Error(${JSON.stringify(message)})`;
  // `--help` is printed within the loading of the command, so its process would end without this timer.
  const look = `if (process.listenerCount('uncaughtException') > 0) { clearInterval(timer); setTimeout(() => { ${thrown}; }, 100); }`;
  writeFileSync(preload, `const timer = setInterval(() => { ${look} }, 20);`);
  return startCommand(['--help'], { NODE_OPTIONS: `--require ${preload}` }).ended;
}

itInWays('a call that is repeated after its connection was closed changes nothing', async () => {
  const { status, out, err } = await endsAfter('Channel has been shut down');
  expect({ status, err }).toEqual({ status: 0, err: '' });
  expect(out).toContain('Usage: order-saga');
});

it('anything else is a mistake of ours, and no answer about a saga', async () => {
  const { status, err } = await endsAfter('something else');
  expect(status).toBe(70);
  expect(err).toContain('something else');
});
