/** `npm run stack`: a server for as long as somebody needs it, and nothing left of it afterwards. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { resolvePrograms, whyNoStack } from '../../../deploy/stack/programs';
import { lowPorts } from '../../../scripts/reachable';
import { describeInWays, takesWays, unlessLacking } from '../../support/left-out';

const root = join(__dirname, '..', '..', '..');
const program = 'deploy/stack/main.ts';
const why = whyNoStack();
const describeWithStack = takesWays ? unlessLacking(why) : describeInWays;

const start = (...args: string[]) =>
  spawn(process.execPath, ['--import', 'tsx', join(root, program), ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'ignore'],
  });

/** The command lines and environments of all processes that speak of the folder. */
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

describeWithStack('the command', () => {
  beforeAll(async () => {
    await resolvePrograms();
  }, 30 * 60_000);

  it('runs another one with the address and the journal, and ends as that ended', async () => {
    const look = 'node --import tsx src/starter.ts journal status';
    const child = start('--run', `echo "at $TEMPORAL_ADDRESS"; ${look}; exit 3`);
    const [said, [status]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    expect(said).toMatch(/^at 127\.0\.0\.1:\d+\njournal +postgres:\/\/127\.0\.0\.1:\d+\/journal\n/);
    expect(said).toContain('references     0\n');
    expect(status).toBe(3);
  });

  it.each(['SIGINT', 'SIGKILL'] as const)(
    'leaves nothing running after %s',
    async (signal) => {
      const [port] = await lowPorts(1);
      const child = start('--port', String(port));
      const exited = once(child, 'exit');
      const [ready] = (await Promise.race([once(createInterface(child.stdout), 'line'), exited])) as [unknown];
      const folder = /logs in (\S+)$/.exec(String(ready))![1]!;
      expect(speakingOf(folder).length).toBeGreaterThan(1);
      child.kill(signal);
      await exited;
      while (speakingOf(folder).length > 0) await pause(50);
      if (signal === 'SIGINT') expect(existsSync(folder)).toBe(false);
      // Whoever is killed cannot tidy up.
      else rmSync(folder, { recursive: true });
    },
    120_000,
  );
});
