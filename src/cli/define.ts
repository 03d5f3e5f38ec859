/** One way to define a command: `command(program, 'verb <ARGUMENT>', 'what it does').option(…).action(run(work))`. */
import type { Readable } from 'node:stream';
import { InvalidArgumentError, type Command } from 'commander';
import { checkReference } from '../client/checked';
import { definedOnly } from '../domain/defined-only';
import { readWorkflowId, type WorkflowName } from '../domain/identity';
import { exitStatus } from './exit-status';
import type { Printer } from './print';

export interface CommandContext {
  printer: Printer;
  stdin: Readable;
  /** Takes what is said to a person who leaves a command that only watches. */
  onLeave?: ((words: (signal: NodeJS.Signals) => void) => void) | undefined;
}

export interface Came {
  /** @default done */
  status?: number;
  /** For `--json`; absent where it has printed its own. */
  document?: unknown;
}

/** Who says something that stays, and why. */
export interface Said {
  by: string;
  note: string;
}

/** Needed where several workflows use one reference. */
export interface OfWorkflow {
  workflow?: WorkflowName;
}

/** A reference, or a workflow id. @throws InvalidRequestError */
export function referenceIn(target: string, { workflow }: OfWorkflow): { reference: string } & OfWorkflow {
  return readWorkflowId(target) ?? { reference: checkReference(target), ...definedOnly({ workflow }) };
}

/** Commander passes the arguments and, last, the options. */
type Work<A extends unknown[]> = (context: CommandContext, ...args: A) => Promise<Came>;
export type Run = ReturnType<typeof running>;

/** Makes of a command's work an action of commander. @param settle takes the exit status */
export function running(context: CommandContext, settle: (status: number) => void) {
  return <A extends unknown[]>(work: Work<A>) =>
    async (...args: A): Promise<void> => {
      const came = await work(context, ...args);
      if ('document' in came) context.printer.document(came.document);
      settle(came.status ?? exitStatus.done);
    };
}

/** Loads the module of a command's work only when the command runs. */
export function later<M, N extends keyof M>(load: () => Promise<M>, name: N) {
  type A = M[N] extends Work<infer Args> ? Args : never;
  return async (context: CommandContext, ...args: A): Promise<Came> =>
    ((await load())[name] as Work<A>)(context, ...args);
}

export function command(parent: Command, usage: string, does: string): Command {
  return parent.command(usage).description(does).option('--json', 'print JSON');
}

/** A command that states something which is kept: nobody does so without a name and a reason. */
export function saying(parent: Command, usage: string, does: string): Command {
  return command(parent, usage, does)
    .requiredOption('--by <NAME>', 'who says it', filled)
    .requiredOption('--note <TEXT>', 'why, or how you know', filled);
}

function filled(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It must not be empty.');
  return text;
}
