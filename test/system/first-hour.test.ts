/**
 * The first hour of somebody who has just cloned this: each command of the README's first order and of its own backend,
 * as it stands there, in three terminals. `npm ci` has run; its own ports must be free.
 */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { assertFree, touch } from '../../scripts/reachable';
import { shellBlocks } from '../docs/tables';
import { projectFolder, readDocument } from '../support/project';
import { until } from '../support/rig';

const sectionOf = (name: string) =>
  readDocument('README.md')
    .split('\n## ')
    .find((text) => text.startsWith(name)) ?? '';
const section = sectionOf('Your first order');
const blocks = shellBlocks(section).map((block) =>
  block
    .replaceAll(/ \\\n */g, ' ')
    .trim()
    .split('\n'),
);
const [first = [], second = [], ...typed] = blocks;

let folder: string;
/** By the sandbox and the worker. */
let said = '';
type Terminal = ChildProcessByStdio<null, Readable, Readable>;
const terminals: { pid: number | undefined; closed: Promise<unknown> }[] = [];
const keep = (terminal: Terminal) => terminals.push({ pid: terminal.pid, closed: once(terminal, 'close') });

function open(lines: readonly string[], out: (text: string) => void = () => undefined): Terminal {
  const { TEMPORAL_ADDRESS: _, ...env } = process.env;
  const child = spawn('bash', ['-c', lines.join('\n')], {
    ...{ cwd: projectFolder, detached: true, stdio: ['ignore', 'pipe', 'pipe'] },
    env: { ...env, XDG_STATE_HOME: folder },
  });
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      out(chunk.toString());
    });
  return child;
}

async function type(line: string): Promise<{ status: number | null; out: string }> {
  let out = '';
  const child = open([line], (text) => (out += text));
  return new Promise((resolve) =>
    child.once('close', (status) => {
      resolve({ status, out });
    }),
  );
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'order-saga-first-hour-'));
  for (const port of [7233, 8233, 8080]) await assertFree(port);
  keep(open(first.filter((line) => line !== 'npm ci')));
  await until(() =>
    touch('localhost:7233').then(
      () => true,
      () => false,
    ),
  );
  keep(open(second, (text) => (said += text)));
  await until(() => /polling|RUNNING|started/i.test(said));
});
afterAll(async () => {
  for (const { pid = 0, closed } of terminals.reverse()) {
    process.kill(-pid, 'SIGTERM');
    await closed;
  }
  rmSync(folder, { recursive: true, force: true });
});

it('goes as the README says', async () => {
  const asks = /cli -- (switch|watch|provision -)/;
  let question = '';
  const outs: string[] = [];
  for (const line of typed.flat()) {
    const { status, out } = await type(line.replace(/("question":"|--question )…/, `$1${question}`));
    expect({ line, status, out }).toEqual({ line, status: asks.test(line) ? 4 : 0, out });
    question = [...out.matchAll(/ question (\w+):/g)].at(-1)?.[1] ?? question;
    outs.push(out);
  }
  expect(outs.join('')).toContain('provision/PO-2026-0042 is done');
  const ledger = outs.find((out) => out.includes('"orderPlaced"')) ?? '';
  expect(ledger.match(/"type":"orderPlaced"/g)).toHaveLength(2);
  // The same file again is the same saga; the lost order ends as it was confirmed.
  expect((await type('npm run cli -- provision examples/provision.json')).out).toContain('was started before');
  const last = await type('npm run cli -- watch PO-2026-0043');
  expect([last.status, last.out]).toEqual([0, expect.stringContaining('provision/PO-2026-0043 is done')]);
});

it('the first screen of the worker has nothing that is no business of a newcomer', () => {
  expect(said).toContain('worker ready');
  expect(said).not.toMatch(/webpack|CVE| {4}at /);
});

it('and so does an own backend', async () => {
  const [code = '', commands = ''] = ['ts', 'sh'].map(
    (kind) => sectionOf('From a backend').split(`\`\`\`${kind}\n`)[1]?.split('```')[0],
  );
  const backend = join(folder, 'my-backend');
  mkdirSync(backend);
  writeFileSync(join(backend, 'buy.ts'), code);
  const { status, out } = await type(
    commands.replaceAll('../my-backend', backend).replaceAll('../order-saga', projectFolder),
  );
  expect({ status, out }).toEqual({ status: 0, out: expect.stringMatching(/\n\[ \d+, \d+ \]\n$/) });
});
