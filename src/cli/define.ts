/** One way to define a command: `command(program, 'verb <ARGUMENT>', 'what it does').option(…).action(run(work))`. */
import { InvalidArgumentError, type Command } from 'commander';
import type { CommandContext } from './command-context';

/** @returns an exit status. Commander passes the arguments and, last, the options. */
type Work<A extends unknown[]> = (context: CommandContext, ...args: A) => Promise<number>;
export type Run = ReturnType<typeof running>;

/** Makes of a command's work an action of commander. */
export function running(context: CommandContext, settle: (status: number) => void) {
  return <A extends unknown[]>(work: Work<A>) =>
    async (...args: A): Promise<void> => {
      settle(await work(context, ...args));
    };
}

/** Loads the module of a command's work only when the command runs. */
export function later<M, N extends keyof M>(load: () => Promise<M>, name: N) {
  type A = M[N] extends Work<infer Args> ? Args : never;
  return async (context: CommandContext, ...args: A): Promise<number> =>
    ((await load())[name] as Work<A>)(context, ...args);
}

export function command(parent: Command, usage: string, does: string): Command {
  return parent.command(usage).description(does).option('--json', 'print JSON');
}

/** A command that states something which is kept: nobody does so without a name and a reason. */
export function saying(parent: Command, usage: string, does: string): Command {
  return withWords(command(parent, usage, does));
}

export function withWords(command: Command): Command {
  return command
    .requiredOption('--by <NAME>', 'who says it', filled)
    .requiredOption('--note <TEXT>', 'why, or how you know', filled);
}

function filled(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It must not be empty.');
  return text;
}
