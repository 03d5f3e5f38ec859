/** The command line: which commands there are, and what they take. */
import { Argument, Command, CommanderError, Option } from 'commander';
import { workflowIdOf, workflowNames, type WorkflowName } from '../domain/identity';
import { decisionNames } from '../domain/decisions';
import { inboxGroupings, inboxRowsMax, listedStates, waitKinds } from '../domain/progress';
import { fates } from '../domain/spending';
import { completionFor, shells, type Shell } from './completion';
import { command, filled, loading, release, saying, type CommandContext, type Loading } from './define';
import { errorOutputOf, exitStatus } from './exit-status';
import { decisionsMax, filteredDecisions } from './many-decisions';
import { Printer, type Streams } from './print';
import { moment, objectId, period, rate, whole } from './units';

export type Terminal = Streams & Omit<CommandContext, 'printer'>;

const help =
  'FILE is a JSON file; - reads standard input. REFERENCE may also be a workflow id.\n\n' +
  'Examples:\n' +
  '  order-saga provision order.json\n' +
  '  order-saga inbox --older-than 1h\n' +
  '  order-saga decide PO-7 retry --question 1bc3a661 --by ann\n' +
  "  order-saga cancel PO-7 --by ann --note 'ordered twice'\n" +
  '  order-saga record PO-7 --timeline\n\n' +
  'Exit status: 0 done, 1 the saga failed or was cancelled, 2 bad usage or request, 3 no connection, 4 it waits for a decision, ' +
  '5 partly done, 6 failed or cancelled with leftovers, 70 a mistake of ours.';

const detach = ['--detach', 'return right after the start'] as const;

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
  const load = loading(context, settle);
  const program = new Command('order-saga')
    .description('Starts order sagas, watches them and decides for them.')
    .version(release, '-V, --version', 'print the version')
    .addHelpText('after', () => `\n${context.printer.asPasted(help)}`)
    .exitOverride()
    .configureOutput({ writeOut: (text) => out.write(text), writeErr: (text) => err.write(text) })
    .showHelpAfterError('(--help says what there is)');
  const ofSaga = load(() => import('./commands.js'));
  const ofJournal = load(() => import('./journal-commands.js'));

  const starting = (workflow: WorkflowName, name: string, does: string) =>
    command(program, `${name} <FILE>`, does, ofSaga('start', workflow)).option(...detach);
  starting('provisionServers', 'provision', 'buy cloud servers and assign firewalls to them');
  starting('changeOrder', 'change', 'add resources to a subscription, or only quote that');
  starting('switchPlan', 'switch', 'move a subscription to another plan, or only quote it');
  starting('setFirewalls', 'firewalls', 'change which firewalls protect a server');
  const checks = 'say what a request would meet, and buy nothing (status 4: a person would be asked)';
  command(program, 'check <FILE>', checks, load(() => import('./check.js'))('check'));

  command(program, 'status <REFERENCE>', 'show the state of a saga', ofSaga('status')).addOption(ofWorkflow());
  const watches = 'show each change until the sagas end or wait for a decision (--json: lines)';
  command(program, 'watch <REFERENCE...>', watches, ofSaga('watch'))
    .addOption(ofWorkflow())
    .option('--follow', 'do not stop at a wait, but at the end');
  addLists(program, load);
  command(program, 'decide <REFERENCE>', 'decide for a saga that waits', ofSaga('decide'))
    .addArgument(new Argument('<DECISION>').choices(decisionNames))
    .argument('[JSON]', 'or its FILE; for what no option says')
    .option('--question <ID>', 'the question that you answer, as status and inbox name it')
    .option('--by <NAME>', 'who says it', filled)
    .option('--note <TEXT>', 'why, or how you know', filled)
    .addOption(ofWorkflow());
  const stops = 'stop a saga and wait until it has undone what it did (status 0: it has, and nothing is left)';
  saying(program, 'cancel <REFERENCE>', stops, ofSaga('cancel'))
    .addOption(ofWorkflow())
    .option('--no-wait', 'return when the cancellation is requested');
  addManyCommands(program, load);
  command(program, 'clean <REFERENCE>', 'delete what a terminated provisioning left in the cart', ofSaga('clean'));
  addHoldCommands(program, load);
  const again = 'send again what receivers of notifications were not told; what waits no more is left out';
  command(program, 'notify-again', again, load(() => import('./list-commands.js'))('notifyAgain'))
    .option('--route <NAME>', 'only of this route')
    .argument('[REFERENCE]', 'only of this saga');
  addReconcileCommands(program, load);

  const records = 'print all that the journal has of a reference; it works without Temporal';
  command(program, 'record <REFERENCE>', records, ofJournal('record'))
    .addOption(ofWorkflow())
    .option('--timeline', 'show what was intended, answered, decided, undone and ended, in the order of time');
  addProviderCommands(program, load);
  addPurchases(program, load);
  const isCancelled = 'say that the provider has cancelled what an ended saga placed; it works without Temporal';
  saying(program, 'cancelled <REFERENCE>', isCancelled, ofJournal('orderCancelled'))
    .option('--row <ID>', 'of a second order, as `record --timeline` names it: LATE')
    .addOption(ofWorkflow());
  addJournalCommands(program, load);
  addServerCommands(program, load);
  program
    .command('completion')
    .description('print a script that completes command lines; eval it where the shell starts')
    .addArgument(new Argument('<SHELL>').choices(shells))
    .action((shell: Shell) => void out.write(completionFor(shell, program)));
  return program;
}

function addLists(program: Command, load: Loading): void {
  const ofMany = load(() => import('./list-commands.js'));
  const atStep = 'only at this step; with * at its end, at each that begins so: add-cart-item-*';
  const states = ['waiting', ...listedStates, 'failed', 'cancelled'];
  command(program, 'list', 'list sagas', ofMany('list'))
    .addOption(new Option('--state <STATE>', 'only in this state; waiting is any wait for a decision').choices(states))
    .addOption(ofWorkflow())
    .option('--server <ID>', 'only sagas that bought the server of this object id, or change its firewalls', objectId)
    .option('--account <ACCOUNT>', 'only of this account')
    .option('--step <STEP>', atStep)
    .option('--metadata <NAME=VALUE>', 'only those whose request says this in its metadata')
    .option('--where <FILTER>', 'a list filter of Temporal, for all else')
    .option('--limit <NUMBER>', 'how many rows at most', whole(1), 100);
  const waiting = 'show what waits for a decision, and what has waited longest (status 4: something waits)';
  command(program, 'inbox', waiting, ofMany('inbox'))
    .addOption(new Option('--by <WHAT>', 'what to count by').choices(inboxGroupings).default('kind'))
    .addOption(new Option('--kind <KIND>', 'only this kind of wait').choices(waitKinds))
    .option('--step <STEP>', atStep)
    .option('--account <ACCOUNT>', 'only of this account')
    .option('--older-than <TIME>', 'only what has waited longer, like 15m, 4h or 2d', period)
    .addOption(ofWorkflow())
    .option('--limit <NUMBER>', `how many sagas to name, ${inboxRowsMax} at most`, whole(1, inboxRowsMax), 20);
}

function addManyCommands(program: Command, load: Loading): void {
  const ofMany = load(() => import('./many-commands.js'));
  const decides = 'decide for many sagas, after a list of them; interrupted and typed again, it goes on where it was';
  saying(program, 'decide-many', decides, ofMany('decideMany'))
    .addArgument(new Argument('[DECISION]', 'for all that it finds; or by --lines').choices(filteredDecisions))
    .option('--where <FILTER>', 'a list filter of Temporal: SagaStep="place-order" AND SagaFailure="Unauthorized"')
    .addOption(new Option('--all', 'all that wait and the decision reaches').conflicts('where'))
    .option('--lines <FILE>', 'JSON lines, one for each saga: {"saga":…,"decision":…,"question":…}')
    .option('--rate <NUMBER>', 'how many in a second, like 5 or 0.5/s', rate, 5)
    .option('--limit <NUMBER>', 'how many in all, the longest waiting first', whole(1, decisionsMax), decisionsMax)
    .option('--dry-run', 'only list what it would reach')
    .option('--yes', 'start without asking');
  const prints = 'print a line for each saga that waits: fill in the decisions, for decide-many --lines';
  command(program, 'questions', prints, ofMany('questions'))
    .option('--where <FILTER>', 'a list filter of Temporal: SagaState="outcome-unknown"')
    .option('--export <FILE>', 'the provider’s own list of orders: fill in those that it has, each once')
    .option('--limit <NUMBER>', 'how many, the longest waiting first', whole(1, decisionsMax), decisionsMax);
}

function addHoldCommands(program: Command, load: Loading): void {
  const ofHold = load(() => import('./list-commands.js'));
  const hold = program
    .command('hold')
    .description('hold new sagas of the namespace before their first call; those under way go on');
  saying(hold, 'on', 'hold new sagas', ofHold('holdOn'));
  saying(hold, 'off', 'let the held sagas begin: each asks again within five minutes', ofHold('holdOff'));
  command(hold, 'status', 'show whether new sagas are held, since when, by whom and why', ofHold('holdStatus'));
}

function addReconcileCommands(program: Command, load: Loading): void {
  const ofSweeps = load(() => import('./reconcile-commands.js'));
  const reconcile = program
    .command('reconcile')
    .description('compare the journal with Temporal and the provider: what is left, and what has drifted');
  const sweeping = (...of: [usage: string, does: string, action: ReturnType<typeof ofSweeps>]) =>
    command(reconcile, ...of)
      .option('--clean', 'delete cart items that are left, by clean-ups (this is the default)')
      .option('--no-clean', 'only report cart items that are left')
      .option('--repair', 'assign firewalls that a server lacks, by sagas; none is ever unassigned')
      .option('--no-repair', 'only report firewalls that a server lacks (this is the default)')
      .option('--days <NUMBER>', 'only ended sagas that began within this many days (30)', whole(0))
      .option('--servers <NUMBER>', 'how many servers are compared, the newest first (1000)', whole(0))
      .option('--rate <NUMBER>', 'how many servers are looked at, or sagas started, in a second (2)', rate);
  const repeats = 'let Temporal start a sweep again and again, or change how';
  sweeping('schedule', repeats, ofSweeps('schedule')).requiredOption('--every <TIME>', 'how often: 5m to 31d', period);
  command(reconcile, 'show', 'show the schedule, and what the last sweep found', ofSweeps('showSchedule'));
  command(reconcile, 'remove', 'remove the schedule; a sweep under way goes on', ofSweeps('removeSchedule'));
  const starts =
    'start a sweep, and wait for its end (status 4: it found something, 5: it found nothing and has not looked at all servers)';
  sweeping('now', starts, ofSweeps('sweepNow')).option(...detach);
}

function addProviderCommands(program: Command, load: Loading): void {
  const looks = 'look whether everything that sagas need is there, and say what to do';
  command(program, 'doctor', looks, load(() => import('./doctor.js'))('doctor'));
  const asks = 'ask the provider, by reads only, what it answers, and print the settings that follow';
  command(program, 'probe', asks, load(() => import('./probe.js'))('probe'))
    .requiredOption('--server <OBJECT_ID>', 'a server that exists', objectId)
    .option('--subscription <ID>', 'a subscription that exists', objectId)
    .option('--plan <ID>', 'a plan that it could be switched to', objectId)
    .option('--directory <PATH>', 'a path that lists servers, like /servers?account={account}&label={label}')
    .option('--account <ID>', 'for the directory')
    .option('--label <TEXT>', 'for the directory');
  const profile = program.command('profile').description('what the provider’s answers mean');
  const means = 'what recorded answers would mean by a profile, and why; it asks nobody';
  const ofProfile = load(() => import('./check-profile.js'));
  const answer = '\nAn ANSWER is a file of {"call":"order","status":200,"body":{…}}, or of a list of them.';
  command(profile, 'check <FILE> [ANSWER...]', means, ofProfile('checkProfile')).addHelpText('after', answer);
}

function addPurchases(program: Command, load: Loading): void {
  const prints = 'print what was bought, the oldest first; it works without Temporal';
  const from =
    'sent from then on: a day like 2026-11-01 (from midnight in UTC), 2026-11-01T09:00+13:00, or a period like 30d';
  command(program, 'purchases', prints, load(() => import('./purchases.js'))('purchases'))
    .option('--account <ID>', 'only for this account')
    .option('--since <TIME>', from, moment)
    .option('--until <TIME>', 'sent before then (a day: before its midnight in UTC)', moment)
    .addOption(
      new Option('--export <FILE>', 'compare orders with the provider’s own list (status 4: they differ)').conflicts([
        ...['outcome', 'server', 'format'],
      ]),
    )
    .addOption(new Option('--outcome <NAME>', 'only what has become this').choices(fates))
    .option('--server <OBJECT_ID>', 'only what has brought this server', objectId)
    .addOption(new Option('--format <NAME>', 'how it is printed').choices(['table', 'json', 'csv']).default('table'));
}

function addJournalCommands(program: Command, load: Loading): void {
  const ofJournal = load(() => import('./journal-commands.js'));
  const journal = program
    .command('journal')
    .description('manage the journal of effects; all of these commands but lost work without Temporal');
  const shows = 'show its state: its schema, its epoch, what people are asked about (status 4: it was restored)';
  command(journal, 'status', shows, ofJournal('journalStatus'));
  const lists =
    'list its sagas that have begun and will not end by themselves; it asks Temporal, too (status 4: there are some)';
  command(journal, 'lost', lists, load(() => import('./lost-commands.js'))('lost'));
  command(journal, 'migrate', 'make its tables, or bring them up to this release', ofJournal('migrateJournal'));
  const restored = 'say that it was restored from an older copy: people are asked about what was sent';
  const whole = 'its database only failed over or moved, and every commit went along: nobody is asked about anything';
  saying(journal, 'restored', restored, ofJournal('journalRestored')).option('--nothing-lost', whole);
  const trusts = 'ask no more about references that are new to it';
  saying(journal, 'trust-new-references', trusts, ofJournal('trustNew'));
}

function addServerCommands(program: Command, load: Loading): void {
  const ofServers = load(() => import('./server-commands.js'));
  const servers = program
    .command('servers')
    .description('servers that were ordered with firewalls and lack them; it works without Temporal');
  command(servers, 'open', 'list them, the longest open first (status 4: there are some)', ofServers('listOpen'));
  const corrects = 'say which servers an ended order has; of none named, nobody knows the ids';
  const all = (text: string, before: number[] = []) => [...before, objectId(text)];
  saying(servers, 'correct <REFERENCE>', corrects, ofServers('correct'))
    .argument('[OBJECT_IDS...]', 'all that it has', all)
    .option('--from <REFERENCE>', 'an ended order that the journal has them of: it loses them');
  const closes = 'say that nothing is to be done about a server, or that it is gone: the alert ends';
  saying(servers, 'close', closes, ofServers('close'))
    .argument('[SERVER]', 'its object id', objectId)
    .option('--reference <REFERENCE>', 'all servers of this order, also where their ids are not known');
}

function ofWorkflow(): Option {
  // The words with which workflow ids begin.
  const names = new Map(workflowNames.map((name) => [workflowIdOf(name, '').replace('/', ''), name]));
  const option = new Option('--workflow <NAME>', 'needed where several workflows use the same reference');
  const { parseArg: choose } = option.choices([...names.keys()]);
  return option.argParser((word) => names.get(choose?.(word, '') ?? ''));
}
