/** Scripts that complete command lines in a shell, made from the commands that there are. */
import type { Command } from 'commander';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** The words that may come next, by what stands before them: nothing, `journal restored`, or `list --state`. */
type Next = [before: string, words: readonly string[]][];

export function completionFor(shell: Shell, program: Command): string {
  const all = nextIn(program);
  const name = program.name();
  return shell === 'fish' ? inFish(name, all) : inBash(name, all, shell);
}

function nextIn(command: Command, before = ''): Next {
  const children = command.commands.filter((child) => child.name() !== 'help');
  const names = [...children.map((child) => child.name()), ...command.options.flatMap(({ long }) => long ?? [])];
  const choices = command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices);
  return [
    [before, [...names, ...choices]],
    ...command.options.flatMap(({ long, argChoices }): Next => (argChoices ? [[`${before} ${long}`, argChoices]] : [])),
    ...children.flatMap((child) => nextIn(child, `${before} ${child.name()}`.trim())),
  ];
}

const isOption = ([before]: Next[number]) => before.includes(' --');
/** Of those that are commands: their names, in quotation marks. */
const known = (all: Next) => all.flatMap((one) => (one[0] === '' || isOption(one) ? [] : [`'${one[0]}'`]));

/**
 * The words before the cursor that are no options say which command it is; zsh runs it by `bashcompinit`. bash makes
 * three words of `--state=wai`, zsh one.
 */
function inBash(name: string, all: Next, shell: 'bash' | 'zsh'): string {
  const caseOf = ([before, words]: Next[number]) => `    '${before}') words='${words.join(' ')}' ;;`;
  const [options, commands] = [all.filter(isOption), all.filter((one) => !isOption(one))];
  return `${shell === 'zsh' ? 'autoload -U +X bashcompinit && bashcompinit\n' : ''}_${name.replaceAll('-', '_')}() {
  local word words='' command='' i before='' current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    case "\${command:+$command }$word" in
      ${known(all).join('|')}) command="\${command:+$command }$word" ;;
    esac
  done
  case "$command" in
${commands.map(caseOf).join('\n')}
  esac
  case "$previous $current" in
    *' --'*=*) words='' previous="\${current%%=*}" current="\${current#*=}" before="$previous=" ;;
    *' =') words='' current='' ;;
    '= '*) words='' previous="\${COMP_WORDS[COMP_CWORD-2]}" ;;
  esac
  case "$command $previous" in
${options.map(caseOf).join('\n')}
  esac
  COMPREPLY=($(compgen -P "$before" -W "$words" -- "$current"))
}
complete -o default -F _${name.replaceAll('-', '_')} ${name}
`;
}

function inFish(name: string, all: Next): string {
  const isAt = `__${name.replaceAll('-', '_')}_is_at`;
  const lines = all.flatMap(([before, words]) => {
    const [command = '', option] = before.split(' --');
    const when = `complete -c ${name} -n '${`${isAt} ${command}`.trim()}'`;
    if (option !== undefined) return [`${when} -x -l ${option} -a '${words.join(' ')}'`];
    return words.map((word) => (word.startsWith('--') ? `${when} -l ${word.slice(2)}` : `${when} -f -a ${word}`));
  });
  return `function ${isAt}
  set -l command ''
  for word in (commandline -opc)[2..]
    set -l next (string trim -- "$command $word")
    contains -- $next ${known(all).join(' ')}; and set command $next
  end
  test "$command" = "$argv"
end
${lines.join('\n')}
`;
}
