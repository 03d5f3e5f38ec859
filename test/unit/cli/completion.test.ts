/** Completion, by the shells themselves. */
import { spawnSync } from 'node:child_process';
import { Readable } from 'node:stream';
import { run } from '../../../src/cli/program';
import { itUnlessLacking } from '../../support/left-out';

async function scriptFor(shell: string): Promise<{ status: number; script: string; err: string }> {
  const said = { script: '', err: '' };
  const out = { write: (text: string) => (said.script += text) };
  const err = { write: (text: string) => (said.err += text) };
  return { status: await run(['completion', shell], { out, err, stdin: Readable.from([]) }), ...said };
}

const lacking = (shell: string) =>
  spawnSync(shell, ['-c', 'true']).error ? `there is no ${shell} on this machine` : undefined;

const lines: [typed: string, expected: string][] = [
  ['order-saga wat', 'watch'],
  ['order-saga journal res', 'restored'],
  ['order-saga list --sta', '--state'],
  ['order-saga list --state wai', 'waiting'],
  ['order-saga reconcile now --det', '--detach'],
  ['order-saga completion fi', 'fish'],
  ['order-saga purchases --outcome=pl', 'placed'],
];

it.each(lines)('bash completes %s', async (typed, expected) => {
  const { script } = await scriptFor('bash');
  const words = typed.split(/ |(=)/).filter(Boolean);
  const asked = `${script}\nCOMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _order_saga; echo "\${COMPREPLY[@]}"`;
  expect(spawnSync('bash', ['--norc', '-c', asked]).stdout.toString().trim()).toBe(expected);
});

itUnlessLacking(lacking('fish')).each(lines)('fish completes %s', async (typed, expected) => {
  const { script } = await scriptFor('fish');
  const asked = `source (echo $argv[1] | psub); complete -C '${typed}'`;
  const { stdout } = spawnSync('fish', ['--no-config', '-c', asked, script]);
  expect(stdout.toString().split(/[\s=]+/)).toContain(expected);
});

itUnlessLacking(lacking('fish'))('fish offers nothing of a command of the same name', async () => {
  const { script } = await scriptFor('fish');
  const asked = `source (echo $argv[1] | psub); complete -C 'order-saga journal status --'`;
  const { stdout } = spawnSync('fish', ['--no-config', '-c', asked, script]);
  expect(stdout.toString()).toContain('--json');
  expect(stdout.toString()).not.toContain('--workflow');
});

/** A shell with a terminal of its own, in which the line is typed, and the key after it. */
const typing = `
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'PS1=; autoload -U compinit && compinit -u -D; eval "$SCRIPT"; print ready'
zpty -r -m shell out '*ready*ready*'
zpty -w -n shell "$TYPED"$'\t'
zpty -r -m shell out "*$EXPECTED*" && print found`;

itUnlessLacking(lacking('zsh')).each(lines)('zsh completes %s', async (TYPED, EXPECTED) => {
  const { script: SCRIPT } = await scriptFor('zsh');
  const env = { ...process.env, SCRIPT, TYPED, EXPECTED };
  const { stdout } = spawnSync('zsh', ['-f', '-c', typing], { env, timeout: 20_000 });
  expect(stdout.toString()).toBe('found\n');
});

it('says which shells it knows', async () => {
  expect(await scriptFor('tcsh')).toMatchObject({ status: 2, err: expect.stringContaining('bash, zsh, fish') });
});
