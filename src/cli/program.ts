/**
 * The command line: which commands there are, and what they take.
 *
 * Exit status: 0 done, 1 the saga failed or was cancelled, 2 bad usage or request, 3 no connection, 4 it waits for a
 * decision, 5 partly done, 6 failed or cancelled with leftovers, 70 a mistake of ours.
 */
import type { Readable } from 'node:stream';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { definedOnly } from '../domain/defined-only';
import { workflowIdOf, workflowNames, type WorkflowName } from '../domain/identity';
import { decisionsMax, filteredDecisionNames } from '../domain/decide-many';
import type { HoldWords } from '../domain/hold';
import { decisionNames } from '../domain/decisions';
import type { NewReferences } from '../journal/ceremony';
import { inboxGroupings, inboxRowsMax, type InboxOptions } from '../client/inbox';
import { listedStates, type SagaFilter } from '../client/saga-list';
import { waitKinds } from '../domain/progress';
import { cancel, clean, decide, firewallsOf, list, start, status, watch } from './commands';
import type { CommandContext, Said, Target } from './command-context';
import { errorOutputOf, exitStatus } from './exit-status';
import { decideMany, job, questions, type ManyOptions } from './many-commands';
import { holdOff, holdOn, holdStatus } from './hold-commands';
import { objectId, period, positive, rate } from './kinds';
import { Printer, type Streams } from './print';
import { addReconcileCommands } from './reconcile-commands';
import { inbox } from './view-commands';

export interface Terminal extends Streams {
  stdin: Readable;
}

/** Loaded only when needed: two database drivers take longer to load than the rest of the program. */
const ofTheJournal = () => import('./journal-commands.js');
const ofTheLost = () => import('./lost-commands.js');
const ofServers = () => import('./server-commands.js');

const exits =
  'Exit status: 0 done, 1 the saga failed or was cancelled, 2 bad usage or request, 3 no connection, 4 it waits for a decision, ' +
  '5 partly done, 6 failed or cancelled with leftovers, 70 a mistake of ours.';

const starting: [command: string, workflow: WorkflowName, does: string][] = [
  ['provision', 'provisionServers', 'buy cloud servers and assign firewalls to them'],
  ['change', 'changeOrder', 'add resources to a subscription, or only quote that'],
  ['switch', 'switchPlan', 'move a subscription to another plan, or only quote it'],
  ['firewalls', 'setFirewalls', 'change which firewalls protect a server'],
];

/** Runs one command line and returns its exit status; it never throws. */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  let outcome: number = exitStatus.done;
  const json = args.includes('--json');
  const context: CommandContext = { printer: new Printer(terminal, json), stdin: terminal.stdin };
  const program = createProgram(context, terminal, (found) => {
    outcome = found;
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return outcome;
  } catch (error) {
    // Commander has printed the error and the usage; asking for help is not an error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitStatus.done : exitStatus.refused;
    const { status, lines, document } = errorOutputOf(error);
    for (const line of lines) context.printer.toStderr(line);
    context.printer.document(document);
    return status;
  }
}

function createProgram(context: CommandContext, { out, err }: Streams, settle: (status: number) => void): Command {
  const program = new Command('order-saga')
    .description('Starts order sagas, watches them and decides for them.')
    .addHelpText('after', `\nFILE is a JSON file; - reads standard input.\n${exits}`)
    .exitOverride()
    .configureOutput({ writeOut: (text) => out.write(text), writeErr: (text) => err.write(text) })
    .showHelpAfterError();

  for (const [name, workflow, does] of starting) {
    command(program, `${name} <FILE>`, does)
      .option('--detach', 'return right after the start')
      .action(async (file: string, { detach = false }: { detach?: boolean }) => {
        settle(await start(context, workflow, file, { detach }));
      });
  }

  command(program, 'firewalls-of <SERVER>', 'show which firewalls protect a server; it changes nothing').action(
    async (server: string) => {
      settle(await firewallsOf(context, server));
    },
  );

  command(program, 'status <REFERENCE>', 'show the state of a saga')
    .addOption(workflowOption())
    .action(async (reference: string, options: Options) => {
      settle(await status(context, targetOf(reference, options)));
    });

  command(program, 'watch <REFERENCE>', 'show each change until the saga ends or waits for a decision')
    .addOption(workflowOption())
    .option('--follow', 'do not stop at a wait, but at the end')
    .action(async (reference: string, options: Options & { follow?: boolean }) => {
      settle(await watch(context, targetOf(reference, options), { follow: options.follow ?? false }));
    });

  command(program, 'list', 'list sagas')
    .addOption(
      new Option('--state <STATE>', 'only sagas in this state; waiting is any wait for a decision').choices([
        'waiting',
        ...listedStates,
        'failed',
        'cancelled',
      ]),
    )
    .addOption(workflowOption())
    .option('--server <ID>', 'only sagas that bought the server of this object id, or change its firewalls', objectId)
    .option('--limit <NUMBER>', 'how many rows at most', positive, 100)
    .action(async ({ state, workflow, server, limit }: Options & Pick<SagaFilter, 'state' | 'server'> & Limit) => {
      const only = definedOnly({ state, server, workflow: workflow === undefined ? undefined : named(workflow) });
      settle(await list(context, { ...only, limit }));
    });

  command(program, 'inbox', 'show what waits for a decision, and what has waited longest (status 4: something waits)')
    .addOption(new Option('--by <WHAT>', 'what to count by').choices(inboxGroupings).default('kind'))
    .addOption(new Option('--kind <KIND>', 'only this kind of wait').choices(waitKinds))
    .option('--step <STEP>', 'only at this step; with * at its end, at each that begins so: add-cart-item-*')
    .option('--account <ACCOUNT>', 'only of this account')
    .option('--older-than <TIME>', 'only what has waited longer, like 15m, 4h or 2d', period)
    .addOption(workflowOption())
    .option('--limit <NUMBER>', `how many sagas to name, ${inboxRowsMax} at most`, inboxRows, 20)
    .action(async ({ workflow, olderThan, json: _json, ...options }: InboxCommandOptions) => {
      const more = { ...(workflow ? { workflow: named(workflow) } : {}), ...definedOnly({ olderThanMs: olderThan }) };
      settle(await inbox(context, { ...options, ...more }));
    });

  command(program, 'decide <REFERENCE> <DECISION> [JSON]', `decide: ${decisionNames.join(', ')}`)
    .addOption(workflowOption())
    .action(async (reference: string, decision: string, json: string | undefined, options: Options) => {
      settle(await decide(context, targetOf(reference, options), decision, json));
    });

  saying(
    command(
      program,
      'cancel <REFERENCE>',
      'stop a saga and wait until it has undone what it did (status 0: it has, and nothing is left)',
    ).addOption(workflowOption()),
  )
    .option('--no-wait', 'return when the cancellation is requested')
    .action(async (reference: string, options: Options & Said & { wait: boolean }) => {
      settle(await cancel(context, targetOf(reference, options), options));
    });

  addManyCommands(program, context, settle);

  command(program, 'clean <REFERENCE>', 'delete what a terminated provisioning left in the cart').action(
    async (reference: string) => {
      settle(await clean(context, reference));
    },
  );

  addHoldCommands(
    program
      .command('hold')
      .description('hold new sagas of the namespace before their first call; those under way go on'),
    context,
    settle,
  );

  addReconcileCommands(
    program
      .command('reconcile')
      .description('compare the journal with Temporal and the provider: what is left, and what has drifted'),
    context,
    settle,
  );

  command(program, 'record <REFERENCE>', 'print all that the journal has of a reference; it works without Temporal')
    .addOption(workflowOption())
    .option('--timeline', 'show what was meant, answered, decided, undone and ended, in the order of time')
    .action(async (reference: string, { timeline = false, ...options }: Options & { timeline?: boolean }) => {
      const { record } = await ofTheJournal();
      settle(await record(context, targetOf(reference, options), { timeline }));
    });

  saying(
    command(
      program,
      'cancelled <REFERENCE>',
      'say that the provider has cancelled what an ended saga placed; it works without Temporal',
    ).addOption(workflowOption()),
  ).action(async (reference: string, options: Options & Said) => {
    settle(await (await ofTheJournal()).orderCancelled(context, targetOf(reference, options), options));
  });

  addJournalCommands(
    program
      .command('journal')
      .description('manage the journal of effects; all of these commands but lost work without Temporal'),
    context,
    settle,
  );

  addServerCommands(
    program
      .command('servers')
      .description('servers that were ordered with firewalls and lack them; these commands work without Temporal'),
    context,
    settle,
  );

  return program;
}

function addManyCommands(program: Command, context: CommandContext, settle: (status: number) => void): void {
  command(
    program,
    'decide-many [DECISION]',
    `decide for many sagas, after a list of them: ${filteredDecisionNames.join(', ')}; or by --lines, one for each`,
  )
    .option('--where <FILTER>', 'a list filter of Temporal: SagaStep="place-order" AND SagaFailure="Unauthorized"')
    .option('--all', 'all that wait and the decision reaches')
    .option('--lines <FILE>', 'JSON lines, one for each saga: {"saga":…,"decision":…,"question":…}')
    .requiredOption('--note <TEXT>', 'how you know; it stands in each saga’s record')
    .requiredOption('--by <NAME>', 'who')
    .option('--rate <NUMBER>', 'how many in a second, like 5 or 0.5/s (default: 5)', rate)
    .option('--limit <NUMBER>', 'how many in all, the longest waiting first: a few, to see how they do', positive)
    .option('--name <NAME>', 'the job’s name; a start that is repeated under it starts nothing')
    .option('--dry-run', 'only list what it would reach')
    .option('--yes', 'start without asking')
    .option('--detach', 'return right after the start')
    .action(async (decision: string | undefined, options: ManyOptions) => {
      settle(await decideMany(context, decision, options));
    });

  command(program, 'questions', 'print a line for each saga that waits: fill in the decisions, for decide-many --lines')
    .option('--where <FILTER>', 'a list filter of Temporal: SagaState="outcome-unknown"')
    .option('--limit <NUMBER>', 'how many, the longest waiting first', positive, decisionsMax)
    .action(async ({ where, limit }: { where?: string; limit: number }) => {
      settle(await questions(context, where, limit));
    });

  command(program, 'job <ID> [ACTION]', 'show a job of decide-many until it ends; or: stop, report').action(
    async (id: string, action: string | undefined) => {
      settle(await job(context, id, action));
    },
  );
}

function addServerCommands(group: Command, context: CommandContext, settle: (status: number) => void): void {
  command(group, 'open', 'list them, the longest open first (status 4: there are some)').action(async () => {
    settle(await (await ofServers()).listOpen(context));
  });

  saying(command(group, 'close', 'say that nothing is to be done about a server any more: the alert ends'))
    .argument('[SERVER]', 'its object id', objectId)
    .option('--reference <REFERENCE>', 'all servers of this order, also where their ids are not known')
    .action(async (server: number | undefined, said: { reference?: string; by: string; note: string }) => {
      settle(await (await ofServers()).close(context, server, said));
    });
}

function addHoldCommands(hold: Command, context: CommandContext, settle: (status: number) => void): void {
  command(hold, 'on', 'hold new sagas')
    .requiredOption('--note <TEXT>', 'why: an operator who looks at a held saga reads it')
    .option('--by <NAME>', 'who')
    .action(async (words: { note: string; by?: string }) => {
      settle(await holdOn(context, namesOf(words)));
    });

  command(hold, 'off', 'let the held sagas begin: each asks again within five minutes')
    .option('--by <NAME>', 'who')
    .option('--note <TEXT>', 'why')
    .action(async (words: HoldWords) => {
      settle(await holdOff(context, namesOf(words)));
    });

  command(hold, 'status', 'show whether new sagas are held, since when, by whom and why').action(async () => {
    settle(await holdStatus(context));
  });
}

function addJournalCommands(journal: Command, context: CommandContext, settle: (status: number) => void): void {
  command(
    journal,
    'status',
    'show its state: its schema, its epoch, what people are asked about (status 4: it was put back)',
  ).action(async () => {
    settle(await (await ofTheJournal()).journalStatus(context));
  });

  command(
    journal,
    'lost',
    'list its sagas that have begun and will not end by themselves; it asks Temporal, too (status 4: there are some)',
  ).action(async () => {
    settle(await (await ofTheLost()).lost(context));
  });

  command(journal, 'migrate', 'make its tables, or bring them up to this release').action(async () => {
    settle(await (await ofTheJournal()).migrateJournal(context));
  });

  saying(
    command(journal, 'restored', 'say that it was put back to an older copy: people are asked about what was sent'),
  )
    .addOption(
      new Option(
        '--new-references <HOW>',
        'references that it has not seen: ask about them, or trust that they are new',
      ).choices(['ask', 'trust']),
    )
    .addOption(
      new Option(
        '--nothing-lost',
        'its database only failed over or moved, and every commit went along: nobody is asked about anything',
      ).conflicts('newReferences'),
    )
    .action(async (said: { newReferences?: NewReferences; nothingLost?: boolean } & Said) => {
      settle(await (await ofTheJournal()).journalRestored(context, said));
    });

  saying(command(journal, 'trust-new-references', 'treat references that it has not seen as new')).action(
    async (said: Said) => {
      settle(await (await ofTheJournal()).trustNew(context, said));
    },
  );
}

function command(program: Command, usage: string, does: string): Command {
  return program.command(usage).description(does).option('--json', 'print one JSON document');
}

/** Of a word that stays: nobody says it without a name and a reason. */
function saying(command: Command): Command {
  return command
    .requiredOption('--by <NAME>', 'who says it', filled)
    .requiredOption('--note <TEXT>', 'why, or how you know', filled);
}

function filled(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It must not be empty.');
  return text;
}

interface Options {
  workflow?: string;
}

interface Limit {
  limit: number;
}

interface InboxCommandOptions extends Options, Pick<InboxOptions, 'by' | 'kind' | 'step' | 'account' | 'limit'> {
  olderThan?: number;
  json?: boolean;
}

/** The words with which workflow ids begin. */
const workflowWords = workflowNames.map((name) => [workflowIdOf(name, '').replace('/', ''), name] as const);

function workflowOption(): Option {
  const words = workflowWords.map(([word]) => word);
  return new Option('--workflow <NAME>', 'needed where several workflows use the same reference').choices(words);
}

function named(word: string): WorkflowName {
  const found = workflowWords.find(([known]) => known === word);
  if (found === undefined) throw new InvalidArgumentError(`there is no workflow ${word}`);
  return found[1];
}

function targetOf(reference: string, { workflow }: Options): Target {
  return { reference, ...(workflow === undefined ? {} : { workflow: named(workflow) }) };
}

/** The options of a hold, without `json` and others. */
function namesOf<W extends { by?: string; note?: string }>({ by, note }: W) {
  return { ...definedOnly({ by, note }) } as Pick<W, 'by' | 'note'>;
}

function inboxRows(text: string): number {
  const rows = positive(text);
  if (rows > inboxRowsMax) throw new InvalidArgumentError(`It must be a whole number from 1 to ${inboxRowsMax}.`);
  return rows;
}
