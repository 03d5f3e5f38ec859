/** The command line: which commands there are, and what they take. */
import type { Readable } from 'node:stream';
import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { workflowIdOf, workflowNames, type WorkflowName } from '../domain/identity';
import { decisionNames } from '../domain/decisions';
import { inboxGroupings, inboxRowsMax } from '../client/inbox';
import { listedStates } from '../client/saga-list';
import { waitKinds } from '../domain/progress';
import { fates } from '../domain/spending';
import { cancel, clean, decide, start, status, watch } from './commands';
import { completionFor, shells, type Shell } from './completion';
import { command, later, running, saying, type CommandContext, type Run } from './define';
import { errorOutputOf, exitStatus } from './exit-status';
import { decideMany, decisionsMax, filteredDecisions, questions } from './many-commands';
import { holdOff, holdOn, holdStatus, inbox, list } from './list-commands';
import { Printer, type Streams } from './print';
import { removeSchedule, schedule, showSchedule, sweepNow } from './reconcile-commands';
import { moment, objectId, period, rate, whole } from './units';

export interface Terminal extends Streams {
  stdin: Readable;
  onLeave?: CommandContext['onLeave'];
}

/** These are loaded only when they are needed: two database drivers take longer to load than all the rest. */
const ofTheJournal = () => import('./journal-commands.js');
const ofTheLost = () => import('./lost-commands.js');
const ofServers = () => import('./server-commands.js');

const exits =
  'Exit status: 0 done, 1 the saga failed or was cancelled, 2 bad usage or request, 3 no connection, 4 it waits for a decision, ' +
  '5 partly done, 6 failed or cancelled with leftovers, 70 a mistake of ours.';

/** `cleanCart` has a command of its own. */
type Started = Exclude<WorkflowName, 'cleanCart'>;
type Starting = [command: string, does: string];

const starting: Record<Started, Starting> = {
  provisionServers: ['provision', 'buy cloud servers and assign firewalls to them'],
  changeOrder: ['change', 'add resources to a subscription, or only quote that'],
  switchPlan: ['switch', 'move a subscription to another plan, or only quote it'],
  setFirewalls: ['firewalls', 'change which firewalls protect a server'],
};

/** Runs one command line and returns its exit status; it never throws. */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  let outcome: number = exitStatus.done;
  const json = args.includes('--json');
  const { stdin, onLeave } = terminal;
  const context: CommandContext = { printer: new Printer(terminal, json), stdin, onLeave };
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
    // Also behind the lines of `watch`.
    context.printer.documentLine(document);
    return status;
  }
}

function createProgram(context: CommandContext, { out, err }: Streams, settle: (status: number) => void): Command {
  const run = running(context, settle);
  const program = new Command('order-saga')
    .description('Starts order sagas, watches them and decides for them.')
    .addHelpText('after', `\nFILE is a JSON file; - reads standard input.\n${exits}`)
    .exitOverride()
    .configureOutput({ writeOut: (text) => out.write(text), writeErr: (text) => err.write(text) })
    .showHelpAfterError();

  for (const [workflow, [name, does]] of Object.entries(starting) as [Started, Starting][]) {
    command(program, `${name} <FILE>`, does)
      .option('--detach', 'return right after the start')
      .action(run((_, file: string, options: { detach?: boolean }) => start(context, workflow, file, options)));
  }
  command(program, 'status <REFERENCE>', 'show the state of a saga').addOption(ofWorkflow()).action(run(status));
  const watches = 'show each change until the sagas end or wait for a decision (--json: lines)';
  command(program, 'watch <REFERENCE...>', watches)
    .addOption(ofWorkflow())
    .option('--follow', 'do not stop at a wait, but at the end')
    .action(run(watch));
  const atStep = 'only at this step; with * at its end, at each that begins so: add-cart-item-*';
  const states = ['waiting', ...listedStates, 'failed', 'cancelled'];
  command(program, 'list', 'list sagas')
    .addOption(new Option('--state <STATE>', 'only in this state; waiting is any wait for a decision').choices(states))
    .addOption(ofWorkflow())
    .option('--server <ID>', 'only sagas that bought the server of this object id, or change its firewalls', objectId)
    .option('--account <ACCOUNT>', 'only of this account')
    .option('--step <STEP>', atStep)
    .option('--metadata <NAME=VALUE>', 'only those whose request says this in its metadata')
    .option('--where <FILTER>', 'a list filter of Temporal, for all else')
    .option('--limit <NUMBER>', 'how many rows at most', whole(1), 100)
    .action(run(list));
  command(program, 'inbox', 'show what waits for a decision, and what has waited longest (status 4: something waits)')
    .addOption(new Option('--by <WHAT>', 'what to count by').choices(inboxGroupings).default('kind'))
    .addOption(new Option('--kind <KIND>', 'only this kind of wait').choices(waitKinds))
    .option('--step <STEP>', atStep)
    .option('--account <ACCOUNT>', 'only of this account')
    .option('--older-than <TIME>', 'only what has waited longer, like 15m, 4h or 2d', period)
    .addOption(ofWorkflow())
    .option('--limit <NUMBER>', `how many sagas to name, ${inboxRowsMax} at most`, whole(1, inboxRowsMax), 20)
    .action(run(inbox));
  command(program, 'decide <REFERENCE>', 'decide for a saga that waits')
    .addArgument(new Argument('<DECISION>').choices(decisionNames))
    .argument('[JSON]', 'or its FILE')
    .addOption(ofWorkflow())
    .action(run(decide));
  const stops = 'stop a saga and wait until it has undone what it did (status 0: it has, and nothing is left)';
  saying(program, 'cancel <REFERENCE>', stops)
    .addOption(ofWorkflow())
    .option('--no-wait', 'return when the cancellation is requested')
    .action(run(cancel));

  addManyCommands(program, run);

  command(program, 'clean <REFERENCE>', 'delete what a terminated provisioning left in the cart').action(run(clean));

  addHoldCommands(program, run);
  addReconcileCommands(program, run);

  command(program, 'record <REFERENCE>', 'print all that the journal has of a reference; it works without Temporal')
    .addOption(ofWorkflow())
    .option('--timeline', 'show what was intended, answered, decided, undone and ended, in the order of time')
    .action(run(later(ofTheJournal, 'record')));
  command(program, 'doctor', 'look whether everything that sagas need is there, and say what to do').action(
    run(later(() => import('./doctor.js'), 'doctor')),
  );
  command(program, 'probe', 'ask the provider, by reads only, what it answers, and print the settings that follow')
    .requiredOption('--server <OBJECT_ID>', 'a server that exists', objectId)
    .option('--subscription <ID>', 'a subscription that exists', objectId)
    .option('--plan <ID>', 'a plan that it could be switched to', objectId)
    .option('--directory <PATH>', 'a path that lists servers, like /servers?account={account}&label={label}')
    .option('--account <ID>', 'for the directory')
    .option('--label <TEXT>', 'for the directory')
    .action(run(later(() => import('./probe.js'), 'probe')));
  const profile = program.command('profile').description('what the provider’s answers mean');
  command(profile, 'check <FILE> [ANSWER...]', 'what recorded answers would mean by a profile, and why; it asks nobody')
    .addHelpText('after', '\nAn ANSWER is a file of {"call":"order","status":200,"body":{…}}, or of a list of them.')
    .action(run(later(() => import('./check-profile.js'), 'checkProfile')));
  command(program, 'purchases', 'print what was bought, the oldest first; it works without Temporal')
    .option('--account <ID>', 'only for this account')
    .option(
      '--since <TIME>',
      'sent from then on: a day like 2026-11-01 (from midnight in UTC), 2026-11-01T09:00+13:00, or a period like 30d',
      moment,
    )
    .option('--until <TIME>', 'sent before then (a day: before its midnight in UTC)', moment)
    .addOption(new Option('--outcome <NAME>', 'only what has become this').choices(fates))
    .option('--server <OBJECT_ID>', 'only what has brought this server', objectId)
    .addOption(new Option('--format <NAME>', 'how it is printed').choices(['table', 'json', 'csv']).default('table'))
    .action(run(later(() => import('./purchases.js'), 'purchases')));
  const isCancelled = 'say that the provider has cancelled what an ended saga placed; it works without Temporal';
  saying(program, 'cancelled <REFERENCE>', isCancelled)
    .option('--row <ID>', 'of a second order, as `record --timeline` names it: LATE')
    .addOption(ofWorkflow())
    .action(run(later(ofTheJournal, 'orderCancelled')));

  addJournalCommands(program, run);
  addServerCommands(program, run);
  program
    .command('completion')
    .description('print a script that completes command lines; eval it where the shell starts')
    .addArgument(new Argument('<SHELL>').choices(shells))
    .action(
      run((_, shell: Shell) => {
        out.write(completionFor(shell, program));
        return Promise.resolve({});
      }),
    );
  return program;
}

function addManyCommands(program: Command, run: Run): void {
  saying(
    program,
    'decide-many',
    'decide for many sagas, after a list of them; interrupted and typed again, it goes on where it was',
  )
    .addArgument(new Argument('[DECISION]', 'for all that it finds; or by --lines').choices(filteredDecisions))
    .option('--where <FILTER>', 'a list filter of Temporal: SagaStep="place-order" AND SagaFailure="Unauthorized"')
    .addOption(new Option('--all', 'all that wait and the decision reaches').conflicts('where'))
    .option('--lines <FILE>', 'JSON lines, one for each saga: {"saga":…,"decision":…,"question":…}')
    .option('--rate <NUMBER>', 'how many in a second, like 5 or 0.5/s', rate, 5)
    .option('--limit <NUMBER>', 'how many in all, the longest waiting first', whole(1, decisionsMax), decisionsMax)
    .option('--dry-run', 'only list what it would reach')
    .option('--yes', 'start without asking')
    .action(run(decideMany));
  command(program, 'questions', 'print a line for each saga that waits: fill in the decisions, for decide-many --lines')
    .option('--where <FILTER>', 'a list filter of Temporal: SagaState="outcome-unknown"')
    .option('--limit <NUMBER>', 'how many, the longest waiting first', whole(1, decisionsMax), decisionsMax)
    .action(run(questions));
}

function addHoldCommands(program: Command, run: Run): void {
  const hold = program
    .command('hold')
    .description('hold new sagas of the namespace before their first call; those under way go on');
  saying(hold, 'on', 'hold new sagas').action(run(holdOn));
  saying(hold, 'off', 'let the held sagas begin: each asks again within five minutes').action(run(holdOff));
  command(hold, 'status', 'show whether new sagas are held, since when, by whom and why').action(run(holdStatus));
}

function addReconcileCommands(program: Command, run: Run): void {
  const reconcile = program
    .command('reconcile')
    .description('compare the journal with Temporal and the provider: what is left, and what has drifted');
  const sweeping = (usage: string, does: string) =>
    command(reconcile, usage, does)
      .option('--clean', 'delete cart items that are left, by clean-ups (this is the default)')
      .option('--no-clean', 'only report cart items that are left')
      .option('--repair', 'assign firewalls that a server lacks, by sagas; none is ever unassigned')
      .addOption(new Option('--no-repair', 'only report firewalls that a server lacks (this is the default)'))
      .option('--days <NUMBER>', 'only ended sagas that began within this many days (30)', whole(0))
      .option('--servers <NUMBER>', 'how many servers are compared, the newest first (1000)', whole(0))
      .option('--rate <NUMBER>', 'how many servers are looked at, or sagas started, in a second (2)', rate);

  sweeping('schedule', 'let Temporal start a sweep again and again, or change how')
    .requiredOption('--every <TIME>', 'how often: 5m to 31d', period)
    .action(run(schedule));
  command(reconcile, 'show', 'show the schedule, and what the last sweep found').action(run(showSchedule));
  command(reconcile, 'remove', 'remove the schedule; a sweep under way goes on').action(run(removeSchedule));
  sweeping(
    'now',
    'start a sweep, and wait for its end (status 4: it found something, 5: it found nothing and has not looked at all servers)',
  )
    .option('--detach', 'return right after the start')
    .action(run(sweepNow));
}

function addServerCommands(program: Command, run: Run): void {
  const servers = program
    .command('servers')
    .description('servers that were ordered with firewalls and lack them; it works without Temporal');
  command(servers, 'open', 'list them, the longest open first (status 4: there are some)').action(
    run(later(ofServers, 'listOpen')),
  );
  saying(servers, 'correct <REFERENCE>', 'say which servers an ended order has; of none named, nobody knows the ids')
    .argument('[OBJECT_IDS...]', 'all that it has', (text: string, before?: number[]) => [
      ...(before ?? []),
      objectId(text),
    ])
    .option('--from <REFERENCE>', 'an ended order that the journal has them of: it loses them')
    .action(run(later(ofServers, 'correct')));
  saying(servers, 'close', 'say that nothing is to be done about a server, or that it is gone: the alert ends')
    .argument('[SERVER]', 'its object id', objectId)
    .option('--reference <REFERENCE>', 'all servers of this order, also where their ids are not known')
    .action(run(later(ofServers, 'close')));
}

function addJournalCommands(program: Command, run: Run): void {
  const journal = program
    .command('journal')
    .description('manage the journal of effects; all of these commands but lost work without Temporal');
  command(
    journal,
    'status',
    'show its state: its schema, its epoch, what people are asked about (status 4: it was restored)',
  ).action(run(later(ofTheJournal, 'journalStatus')));
  command(
    journal,
    'lost',
    'list its sagas that have begun and will not end by themselves; it asks Temporal, too (status 4: there are some)',
  ).action(run(later(ofTheLost, 'lost')));
  command(journal, 'migrate', 'make its tables, or bring them up to this release').action(
    run(later(ofTheJournal, 'migrateJournal')),
  );
  const whole = 'its database only failed over or moved, and every commit went along: nobody is asked about anything';
  saying(journal, 'restored', 'say that it was restored from an older copy: people are asked about what was sent')
    .option('--nothing-lost', whole)
    .action(run(later(ofTheJournal, 'journalRestored')));
  saying(journal, 'trust-new-references', 'ask no more about references that are new to it').action(
    run(later(ofTheJournal, 'trustNew')),
  );
}

function ofWorkflow(): Option {
  // The words with which workflow ids begin.
  const names = new Map(workflowNames.map((name) => [workflowIdOf(name, '').replace('/', ''), name]));
  const words = [...names.keys()].join(', ');
  return new Option(
    '--workflow <NAME>',
    `needed where several workflows use the same reference (choices: ${words})`,
  ).argParser((word): WorkflowName => {
    const name = names.get(word);
    if (name === undefined) throw new InvalidArgumentError(`Allowed choices are ${words}.`);
    return name;
  });
}
