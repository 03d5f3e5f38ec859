/** Each command line of ours that a page shows exists, with its options. */
import { execFileSync } from 'node:child_process';
import { Readable } from 'node:stream';
import { Command } from 'commander';
import { run } from '../../src/cli/program';
import { projectFolder, readDocument } from '../support/project';

/** The CHANGELOG names what is gone. */
const pages = execFileSync('git', ['ls-files', '*.md', '*.yaml', ':!CHANGELOG.md'], {
  cwd: projectFolder,
  encoding: 'utf8',
})
  .trim()
  .split('\n');

/** By command, as the completion for a shell has them: its subcommands and its options. */
const known = new Map<string, string[]>();
/** By command: those without which it is refused. */
const required = new Map<string, string[]>();
beforeAll(async () => {
  const mandatory = jest.spyOn(Command.prototype, 'requiredOption');
  let script = '';
  const out = { write: (text: string) => (script += text) };
  await run(['completion', 'bash'], { out, err: out, stdin: Readable.from([]) });
  for (const [, command = '', words = ''] of script.matchAll(/^ {4}'([\w -]*)'\) words='([^']*)' ;;$/gm))
    if (!command.includes(' --')) known.set(command, words.split(' '));
  (mandatory.mock.contexts as Command[]).forEach((command, index) => {
    const names = [command.name()];
    for (let { parent } = command; parent?.parent; { parent } = parent) names.unshift(parent.name());
    const [option = ''] = /^--[a-z-]+/.exec(mandatory.mock.calls[index]?.[0] ?? '') ?? [];
    required.set(names.join(' '), [...(required.get(names.join(' ')) ?? []), option]);
  });
});

/** `order-saga journal restored --by you`, or `npm run cli -- …`, up to what ends a command line. */
const lines = pages.flatMap((page) =>
  [...readDocument(page).matchAll(/(?:\border-saga|npm run (?:--silent )?cli --) ([a-z][^`\n|#]*)/g)].map(
    ([, line = '']) => [page, line] as const,
  ),
);

function unknownIn(line: string): string | undefined {
  let command = '';
  for (const word of line.split(/[\s;,.…)]+/)) {
    const next = `${command} ${word}`.trim();
    if (known.has(next)) command = next;
    else if (/^--[a-z-]+$/.test(word) && !known.get(command)?.includes(word)) return `${command} ${word}`;
  }
  // A command that is only named has no options.
  const lacking = required.get(command)?.find((option) => line.includes(' --') && !line.includes(option));
  return command === '' ? line : lacking && `${command} without ${lacking}`;
}

it('are found', () => {
  expect(known.size).toBeGreaterThan(30);
  expect(lines.length).toBeGreaterThan(60);
});

it('are of the command line', () => {
  // A sentence goes on with a verb: “order-saga buys cloud servers”.
  const sentences = /^(buys|asks|sagas?|is|has|and|never|on|cannot|worker|workers|does|in|client)\b/;
  const wrong = lines.flatMap(([page, line]) => {
    const unknown = sentences.test(line) ? undefined : unknownIn(line);
    return unknown === undefined ? [] : [`${page}: ${unknown}`];
  });
  expect(wrong).toEqual([]);
});
