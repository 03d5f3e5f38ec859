/** The commands that schedule sweeps, start them, and show what they have found. */
import { setTimeout as pause } from 'node:timers/promises';
import { Option, type Command } from 'commander';
import type { OrderSagaClient } from '../client/client';
import type { SweepRun, SweepSchedule } from '../client/reconcile';
import { readClientConfig } from '../config';
import { definedOnly } from '../domain/defined-only';
import { describeCounts, describeFinding, type ReconcileOptions, type SweepReport } from '../domain/reconcile';
import type { CommandContext } from './command-context';
import { withSagas } from './connect';
import { exitStatus } from './exit-status';
import { count, period, rate } from './kinds';

interface Options {
  clean?: boolean;
  repair?: boolean;
  days?: number;
  servers?: number;
  rate?: number;
}

type Settle = (status: number) => void;

export function addReconcileCommands(reconcile: Command, context: CommandContext, settle: Settle): void {
  withOptions(command(reconcile, 'schedule', 'let Temporal start a sweep again and again, or change how'))
    .requiredOption('--every <TIME>', 'how often: 5m to 31d', period)
    .action(async ({ every, ...options }: Options & { every: number }) => {
      settle(await schedule(context, every, requestOf(options)));
    });

  command(reconcile, 'show', 'show the schedule, and what the last sweep found').action(async () => {
    settle(await show(context));
  });

  command(reconcile, 'remove', 'remove the schedule; a sweep under way goes on').action(async () => {
    settle(await remove(context));
  });

  withOptions(
    command(
      reconcile,
      'now',
      'start a sweep, and wait for its end (status 4: it found something, 5: it found nothing and has not looked at all servers)',
    ),
  )
    .option('--detach', 'return right after the start')
    .action(async ({ detach = false, ...options }: Options & { detach?: boolean }) => {
      settle(await sweepNow(context, requestOf(options), { detach }));
    });
}

function command(parent: Command, usage: string, does: string): Command {
  return parent.command(usage).description(does).option('--json', 'print one JSON document');
}

function withOptions(told: Command): Command {
  return told
    .option('--clean', 'delete cart items that are left, by clean-ups (this is the default)')
    .option('--no-clean', 'only tell of cart items that are left')
    .option('--repair', 'assign firewalls that a server lacks, by sagas; none is ever unassigned')
    .addOption(new Option('--no-repair', 'only tell of firewalls that a server lacks (this is the default)'))
    .option('--days <NUMBER>', 'ended sagas that began within so many days (30)', count)
    .option('--servers <NUMBER>', 'how many servers are compared, the newest first (1000)', count)
    .option('--rate <NUMBER>', 'how many servers are looked at, or sagas started, in a second (2)', rate);
}

function requestOf({ clean, repair, days, servers, rate: perSecond }: Options): ReconcileOptions {
  return definedOnly({ clean, repair, days, servers, perSecond });
}

function schedule({ printer }: CommandContext, everyMs: number, options: ReconcileOptions): Promise<number> {
  return withSagas(readClientConfig(), async ({ sweeps }) => {
    const { existing } = await sweeps.schedule(everyMs, options);
    const found = await sweeps.scheduled();
    printer.line(`the schedule is ${existing ? 'changed' : 'made'}`);
    if (found) for (const line of describeSchedule(found)) printer.line(line);
    printer.document({ existing, schedule: found });
    return exitStatus.done;
  });
}

function show({ printer }: CommandContext): Promise<number> {
  return withSagas(readClientConfig(), async ({ sweeps }) => {
    const [found, last] = await Promise.all([sweeps.scheduled(), sweeps.latest()]);
    if (found === undefined)
      printer.line('no schedule: nothing starts a sweep (order-saga reconcile schedule --every 1h)');
    else for (const line of describeSchedule(found)) printer.line(line);
    if (last === undefined) printer.line('no sweep is known');
    else for (const line of describeSweep(last)) printer.line(line);
    printer.document({ schedule: found, last });
    return last === undefined ? exitStatus.done : statusOf(last);
  });
}

function remove({ printer }: CommandContext): Promise<number> {
  return withSagas(readClientConfig(), async ({ sweeps }) => {
    const was = await sweeps.unschedule();
    printer.line(was ? 'the schedule is removed' : 'there was no schedule');
    printer.document({ was });
    return exitStatus.done;
  });
}

function sweepNow(
  { printer }: CommandContext,
  options: ReconcileOptions,
  { detach }: { detach: boolean },
): Promise<number> {
  return withSagas(readClientConfig(), async (sagas) => {
    const { sweeps } = sagas;
    const { runId, existing } = await sweeps.start(options);
    printer.line(existing ? 'a sweep is under way already, and is followed' : 'the sweep is started');
    if (detach) {
      printer.document({ runId, existing });
      return exitStatus.done;
    }
    const over = new AbortController();
    void sayWhereNobodyWorks(sagas, runId, over.signal, (line) => {
      printer.toStderr(line);
    });
    const ended = await sweeps.ended(runId).finally(() => {
      over.abort();
    });
    for (const line of describeSweep(ended)) printer.line(line);
    printer.document(ended);
    return statusOf(ended);
  });
}

/** As long as for a query: a running worker takes it within milliseconds. */
const takenWithinMs = 10_000;

async function sayWhereNobodyWorks(
  { temporal }: OrderSagaClient,
  runId: string,
  signal: AbortSignal,
  say: (line: string) => void,
): Promise<void> {
  try {
    await pause(takenWithinMs, undefined, { signal });
    // Started, and its first task scheduled.
    const { historyLength } = await temporal.workflow.getHandle('reconcile', runId).describe();
    if (historyLength <= 2) say('no worker has taken it yet; it begins when one runs');
  } catch {
    // It is over, or the command fails by itself.
  }
}

function statusOf({ closeTime, report }: SweepRun): number {
  if (closeTime === undefined) return exitStatus.done;
  if (report === undefined || report.outcome === 'could-not-look') return exitStatus.notDone;
  if (report.outcome === 'partly') return exitStatus.partly;
  return report.outcome === 'clean' ? exitStatus.done : exitStatus.waits;
}

function describeSchedule({ everyMs, options, paused, note, next }: SweepSchedule): string[] {
  const asks = Object.entries(options).map(([name, value]) => `${name} ${String(value)}`);
  return [
    `a sweep ${everyMs === undefined ? 'at times of its own' : `every ${inWords(everyMs)}`}: ${asks.join(', ')}`,
    ...(paused ? [`paused${note === undefined || note === '' ? '' : ` (${note})`}: nothing is started`] : []),
    ...(next && !paused ? [`the next one: ${next.toISOString()}`] : []),
  ];
}

function inWords(ms: number): string {
  const minutes = ms / 60_000;
  if (minutes % (24 * 60) === 0) return `${minutes / (24 * 60)}d`;
  return minutes % 60 === 0 ? `${minutes / 60}h` : `${minutes}m`;
}

function describeSweep({ workflowId, status, startTime, closeTime, report }: SweepRun): string[] {
  const when = `begun on ${startTime.toISOString()}`;
  if (closeTime === undefined) return [`${workflowId} runs, ${when}`];
  if (report === undefined)
    return [`${workflowId} was ended from outside, or refused (${status}), ${when}: it says nothing`];
  return [`${workflowId}: ${report.outcome}, ${when}`, ...describeReport(report)];
}

function describeReport({ looked, counts, findings, unlisted, unseen }: SweepReport): string[] {
  const { open, ended, servers, busy, missed } = looked;
  return [
    `looked at ${open} sagas without an ending, ${ended} with one, ${servers} servers; found ${describeCounts(counts)}`,
    ...(busy > 0 ? [`${busy} servers were left alone: sagas work on them`] : []),
    ...(missed > 0 ? [`${missed} more servers were not compared (--days, --servers)`] : []),
    ...unseen.map(({ what, failure, why }) => `could not look at ${what}: ${failure}: ${why}`),
    ...findings.map((finding) => `- ${describeFinding(finding)}`),
    ...(unlisted > 0 ? [`- and ${unlisted} more`] : []),
  ];
}
