/** Scripts that complete command lines in a shell, made from the commands that there are. */
import type { Command } from 'commander';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

interface Completed {
  /** `journal restored`; empty: what may come first. */
  after: string;
  words: string[];
  /** By option: what it takes, where that is a choice. */
  values: [option: string, choices: readonly string[]][];
}

export function completionFor(shell: Shell, program: Command): string {
  const all = completed(program);
  const name = program.name();
  return shell === 'fish' ? inFish(name, all) : inBash(name, all, shell);
}

function completed(command: Command, after = ''): Completed[] {
  const children = command.commands.filter((child) => child.name() !== 'help');
  const options = command.options.flatMap(({ long, argChoices }) => (long ? [{ long, argChoices }] : []));
  return [
    {
      after,
      words: [
        ...children.map((child) => child.name()),
        ...options.map(({ long }) => long),
        ...command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
      ],
      values: options.flatMap(({ long, argChoices }) => (argChoices ? [[long, argChoices]] : [])),
    },
    ...children.flatMap((child) => completed(child, `${after} ${child.name()}`.trim())),
  ];
}

/**
 * The words before the cursor that are no options say which command it is; zsh runs it by `bashcompinit`. bash makes
 * three words of `--state=wai`, zsh one.
 */
function inBash(name: string, all: readonly Completed[], shell: 'bash' | 'zsh'): string {
  const cases = all.map(({ after, words }) => `    '${after}') words='${words.join(' ')}' ;;`);
  const ofOptions = all.flatMap(({ after, values }) =>
    values.map(([option, choices]) => `    '${after} ${option}') words='${choices.join(' ')}' ;;`),
  );
  const known = all.map(({ after }) => `'${after}'`).filter((after) => after !== "''");
  return `${shell === 'zsh' ? 'autoload -U +X bashcompinit && bashcompinit\n' : ''}_${name.replaceAll('-', '_')}() {
  local word words='' command='' i before='' current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    case "\${command:+$command }$word" in
      ${known.join('|')}) command="\${command:+$command }$word" ;;
    esac
  done
  case "$command" in
${cases.join('\n')}
  esac
  case "$previous $current" in
    *' --'*=*) words='' previous="\${current%%=*}" current="\${current#*=}" before="$previous=" ;;
    *' =') words='' current='' ;;
    '= '*) words='' previous="\${COMP_WORDS[COMP_CWORD-2]}" ;;
  esac
  case "$command $previous" in
${ofOptions.join('\n')}
  esac
  COMPREPLY=($(compgen -P "$before" -W "$words" -- "$current"))
}
complete -o default -F _${name.replaceAll('-', '_')} ${name}
`;
}

function inFish(name: string, all: readonly Completed[]): string {
  const isAt = `__${name.replaceAll('-', '_')}_is_at`;
  const when = (after: string) => `${isAt} ${after}`.trim();
  const known = all.flatMap(({ after }) => (after === '' ? [] : [`'${after}'`]));
  const lines = all.flatMap(({ after, words, values }) => [
    ...words.map((word) =>
      word.startsWith('--')
        ? `complete -c ${name} -n '${when(after)}' -l ${word.slice(2)}`
        : `complete -c ${name} -f -n '${when(after)}' -a ${word}`,
    ),
    ...values.map(
      ([option, choices]) =>
        `complete -c ${name} -x -n '${when(after)}' -l ${option.slice(2)} -a '${choices.join(' ')}'`,
    ),
  ]);
  return `function ${isAt}
  set -l command ''
  for word in (commandline -opc)[2..]
    set -l next (string trim -- "$command $word")
    contains -- $next ${known.join(' ')}; and set command $next
  end
  test "$command" = "$argv"
end
${lines.join('\n')}
`;
}
