/** `npm run stack`: a server for as long as somebody needs it, and nothing left of it afterwards. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { resolvePrograms, whyNoStack } from '../../deploy/stack/programs';
import { startProcess } from '../../scripts/processes';

const root = join(__dirname, '..', '..');
const program = 'deploy/stack/main.ts';
const why = whyNoStack();
const describeWithStack = why === undefined ? describe : describe.skip;

/** The command lines of all processes that speak of the folder. */
function speakingOf(folder: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [`${readFileSync(`/proc/${pid}/cmdline`, 'utf8')} ${readFileSync(`/proc/${pid}/environ`, 'utf8')}`];
      } catch {
        // It has ended, or ends.
        return [];
      }
    })
    .filter((line) => line.includes(folder));
}

describeWithStack(`the command${why === undefined ? '' : ` (skipped: ${why})`}`, () => {
  beforeAll(async () => {
    await resolvePrograms();
  }, 30 * 60_000);

  it('runs another one with the address, and ends as that ended', async () => {
    const child = spawn(
      process.execPath,
      ['--import', 'tsx', join(root, program), '--run', 'echo "at $TEMPORAL_ADDRESS"; exit 3'],
      { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const [said, [status]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    expect(said).toMatch(/^at 127\.0\.0\.1:\d+\n$/);
    expect(status).toBe(3);
  }, 120_000);

  it.each(['SIGINT', 'SIGKILL'] as const)(
    'leaves nothing running after %s',
    async (signal) => {
      const stack = await startProcess(program, { PATH: process.env['PATH'] ?? '' }, []);
      const folder = /logs in (\S+)$/.exec(stack.ready)?.[1] ?? '';
      expect(speakingOf(folder).length).toBeGreaterThan(1);
      await stack.kill(signal);
      while (speakingOf(folder).length > 0) await pause(50);
      // Whoever is killed cannot tidy up.
      if (signal === 'SIGINT') expect(existsSync(folder)).toBe(false);
    },
    120_000,
  );
});
