/** The commands that schedule sweeps, start them, and show what they have found. */
import type { SweepRun, SweepSchedule } from '../client/reconcile';
import { describeCounts, describeFinding, type ReconcileOptions } from '../domain/reconcile';
import { inWords } from '../domain/times';
import { withSagas } from './connect';
import { asking } from './define';
import { exitStatus } from './exit-status';
import { inUnits } from './units';

type Options = Omit<ReconcileOptions, 'perSecond'> & { rate?: number; json?: boolean };

/** What is not typed is not named: it stays as the schedule has it. */
function requestOf({ rate: perSecond, json: _, ...options }: Options): ReconcileOptions {
  return perSecond === undefined ? options : { ...options, perSecond };
}

export const schedule = asking(
  withSagas,
  async ({ sweeps }, { printer }, { every, ...options }: Options & { every: number }) => {
    const { existing } = await sweeps.schedule(every, requestOf(options));
    const found = await sweeps.scheduled();
    printer.line(`the schedule is ${existing ? 'changed' : 'made'}`);
    if (found) printer.lines(describeSchedule(found));
    return { document: { existing, schedule: found } };
  },
);

export const showSchedule = asking(withSagas, async ({ sweeps }, { printer }) => {
  const [found, last] = await Promise.all([sweeps.scheduled(), sweeps.latest()]);
  const none = 'no schedule: nothing starts a sweep (order-saga reconcile schedule --every 1h)';
  printer.lines(found ? describeSchedule(found) : [none]);
  printer.lines(last ? describeSweep(last) : ['no sweep is known']);
  return { document: { schedule: found, last }, status: last ? statusOf(last) : exitStatus.done };
});

export const removeSchedule = asking(withSagas, async ({ sweeps }, { printer }) => {
  const was = await sweeps.unschedule();
  printer.line(was ? 'the schedule is removed' : 'there was no schedule');
  return { document: { was } };
});

type SweepAsked = Options & { detach?: boolean };

export const sweepNow = asking(withSagas, async ({ sweeps }, { printer }, { detach, ...options }: SweepAsked) => {
  const { runId, existing } = await sweeps.start(requestOf(options));
  printer.line(existing ? 'a sweep is under way already, and is followed' : 'the sweep is started');
  if (detach) return { document: { runId, existing } };
  printer.toStderr('it begins when a worker runs, and takes minutes where there are many servers');
  const ended = await sweeps.ended(runId);
  printer.lines(describeSweep(ended));
  return { document: ended, status: statusOf(ended) };
});

function statusOf({ closeTime, report }: SweepRun): number {
  if (closeTime === undefined) return exitStatus.done;
  if (report === undefined || report.outcome === 'could-not-look') return exitStatus.notDone;
  if (report.outcome === 'partly') return exitStatus.partly;
  return report.outcome === 'clean' ? exitStatus.done : exitStatus.waits;
}

function describeSchedule({ everyMs, options, paused, note, next }: SweepSchedule): string[] {
  const asks = Object.entries(options).map(([name, value]) => `${name} ${String(value)}`);
  return [
    `a sweep ${everyMs === undefined ? 'at times of its own' : `every ${inUnits(everyMs)}`}: ${asks.join(', ')}`,
    ...(paused ? [`paused${note === undefined || note === '' ? '' : ` (${note})`}: nothing is started`] : []),
    ...(next && !paused ? [`the next one: ${inWords(next)}`] : []),
  ];
}

function describeSweep({ workflowId, status, startTime, closeTime, report }: SweepRun): string[] {
  const when = `begun on ${inWords(startTime)}`;
  if (closeTime === undefined) return [`${workflowId} runs, ${when}`];
  if (report === undefined)
    return [`${workflowId} was ended from outside, or refused (${status}), ${when}: it says nothing`];
  const { outcome, looked, counts, findings, unlisted, unseen } = report;
  const { open, ended, servers, busy, missed } = looked;
  return [
    `${workflowId}: ${outcome}, ${when}`,
    `looked at ${open} sagas without an ending, ${ended} with one, ${servers} servers; found ${describeCounts(counts)}`,
    ...(busy > 0 ? [`${busy} servers were left alone: sagas work on them`] : []),
    ...(missed > 0 ? [`${missed} more servers were not compared (--days, --servers)`] : []),
    ...unseen.map(({ what, failure, why }) => `could not look at ${what}: ${failure}: ${why}`),
    ...findings.map((finding) => `- ${describeFinding(finding)}`),
    ...(unlisted > 0 ? [`- and ${unlisted} more`] : []),
  ];
}
