/** One way to define a command: `command(program, 'verb <ARGUMENT>', 'what it does', work).option(…)`. */
import type { Readable } from 'node:stream';
import { InvalidArgumentError, type Command } from 'commander';
import { checkReference } from '../client/checked';
import { readWorkflowId, type WorkflowName } from '../domain/identity';
import { isFilled } from '../domain/values';
import { exitStatus } from './exit-status';
import type { Printer } from './print';

/** As `package.json` has it. */
export const release = '0.1.0';

export interface CommandContext {
  printer: Printer;
  stdin: Readable;
  /** Takes what is said to a person who leaves a command that only watches. */
  onLeave?: (words: (signal: NodeJS.Signals) => void) => void;
}

export interface CommandResult {
  /** @default done */
  status?: number;
  /** For `--json`; absent where it has printed its own. */
  document?: unknown;
}

/** Who says something that stays, and why. */
export interface Attribution {
  by: string;
  note: string;
}

/** Needed where several workflows use one reference. */
export interface OfWorkflow {
  workflow?: WorkflowName;
}

/** A reference, or a workflow id. @throws InvalidRequestError */
export function referenceIn(target: string, { workflow }: OfWorkflow): { reference: string } & OfWorkflow {
  return readWorkflowId(target) ?? { reference: checkReference(target), workflow };
}

/** A command whose work asks somebody: Temporal, or the journal. @param ask opens what is asked, and closes it */
export function asking<S, A extends unknown[]>(
  ask: (work: (asked: S) => Promise<CommandResult>) => Promise<CommandResult>,
  work: (asked: S, context: CommandContext, ...args: A) => Promise<CommandResult>,
) {
  return (context: CommandContext, ...args: A) => ask((asked) => work(asked, context, ...args));
}

/** Commander passes the arguments and, last, the options. */
type Work = (context: CommandContext, ...args: never[]) => Promise<CommandResult>;

/** What commander calls to carry out a command. */
type Action = (...args: unknown[]) => Promise<void>;

/** By the name of a function of a module. `given`: what it gets before what is typed. */
type WorkOf<M> = <N extends keyof M>(name: M[N] extends Work ? N : never, ...given: unknown[]) => Action;
export type Loading = <M>(load: () => Promise<M>) => WorkOf<M>;

/** Carries out commands. Their module is loaded only when one of them runs. @param settle takes the exit status */
export function loading(context: CommandContext, settle: (status: number) => void): Loading {
  return (load) =>
    (name, ...given) =>
    async (...args) => {
      const work = (await load())[name] as (context: CommandContext, ...args: unknown[]) => Promise<CommandResult>;
      const came = await work(context, ...given, ...args);
      if ('document' in came) context.printer.document(came.document);
      settle(came.status ?? exitStatus.done);
    };
}

export function command(parent: Command, usage: string, does: string, action: Action): Command {
  return parent.command(usage).description(does).option('--json', 'print JSON').action(action);
}

/** A command that states something which is kept: nobody does so without a name and a reason. */
export function saying(parent: Command, usage: string, does: string, action: Action): Command {
  return command(parent, usage, does, action)
    .requiredOption('--by <NAME>', 'who says it', filled)
    .requiredOption('--note <TEXT>', 'why, or how you know', filled);
}

export function filled(text: string): string {
  if (!isFilled(text)) throw new InvalidArgumentError('It must have letters or digits.');
  return text;
}
