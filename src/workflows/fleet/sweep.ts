/** A sweep's findings so far. They go along if the sweep goes on in another run. */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ParentClosePolicy, setCurrentDetails, startChild, type ChildWorkflowOptions } from '@temporalio/workflow';
import type { LeftBehind, LeftSlice, LostSlice, Wanted } from '../../activities/reconcile';
import type { CallFailure } from '../../domain/failures';
import { workflowIdOf, type WorkflowName } from '../../domain/identity';
import { plainMarkdown } from '../../domain/markdown';
import {
  describeCounts,
  describeFinding,
  type Finding,
  type SweepOutcome,
  type SweepReport,
} from '../../domain/reconcile';
import { attempt, type Act } from '../../saga/attempts';
import { count } from '../../saga/shown/metrics';
import { Step, markPartly } from '../../saga/shown/progress';

/** Characters of all findings that a report lists: with the rest of a sweep they fit one payload of Temporal. */
const listedCharsMax = 200_000;

/** Findings that the details show; the result has more. */
const shownMax = 20;

/** More than any finding has. */
const findingCharsMax = 1_000;

/** A server that is to be compared. */
export interface ToCompare {
  vmObjectId: number;
  /** It lacks these, as a saga that bought it has told. */
  unprotected?: Wanted & { saga: string };
  /** The id before one that has its turn. */
  behind?: number;
}

export interface Sweep {
  at:
    | { phase: 'open'; after?: LostSlice['last'] }
    | { phase: 'ended'; after?: LeftSlice['last'] }
    | { phase: 'turn' | 'servers' };
  /** Those that are still to be compared. */
  servers: ToCompare[];
  /** How many the journal knows of sagas that have ended, whenever they began. */
  serversKnown: number;
  /** A server for which the provider has answered. */
  answeredFor?: number;
  /** Servers for which it has not, since it last did for another one. */
  unanswered: { vmObjectId: number; failure: CallFailure }[];
  /** All servers have had their turn since the first one had it last. */
  isRound?: boolean;
  report: SweepReport;
  listedChars: number;
}

export const idOf = ({ workflow, reference }: Pick<LeftBehind, 'workflow' | 'reference'>) =>
  workflowIdOf(workflow, reference);

export function beginSweep(): Sweep {
  const looked = { open: 0, ended: 0, servers: 0, busy: 0, missed: 0 };
  const startedAt = new Date().toISOString();
  const nothing = { counts: {}, findings: [], unlisted: 0, unseen: [] };
  return {
    at: { phase: 'open' },
    servers: [],
    serversKnown: 0,
    unanswered: [],
    report: { outcome: 'clean', startedAt, looked, ...nothing },
    listedChars: 0,
  };
}

export function found(sweep: Sweep, finding: Finding): void {
  const { counts, findings } = sweep.report;
  sweep.listedChars += JSON.stringify(finding).length;
  if (sweep.listedChars > listedCharsMax) return foundMore(sweep, finding.kind, 1);
  counts[finding.kind] = (counts[finding.kind] ?? 0) + 1;
  findings.push(finding);
}

/** Only counted. */
export function foundMore({ report }: Sweep, kind: Finding['kind'], more: number): void {
  report.counts[kind] = (report.counts[kind] ?? 0) + more;
  report.unlisted += more;
}

export function unseen({ report }: Sweep, what: string, { failure, message }: CallFailure): void {
  report.unseen.push({ what, failure, why: message });
}

/** Counts the sweep. @returns its report */
export function ended(sweep: Sweep): SweepReport {
  const { report } = sweep;
  const { looked } = report;
  looked.missed = Math.max(0, sweep.serversKnown - looked.servers - looked.busy);
  report.outcome = outcomeOf(report);
  // The gauges tell it by that from a sweep that has ended a round.
  if (!sweep.isRound) markPartly();
  count('sweeps', { outcome: report.outcome });
  for (const [kind, times] of Object.entries(report.counts)) count('findings', { kind }, times);
  show(sweep, `It has ended as ${report.outcome}`);
  return report;
}

function outcomeOf({ looked, counts, unseen: notSeen }: SweepReport): SweepOutcome {
  if (notSeen.length > 0) return 'could-not-look';
  if (Object.keys(counts).length > 0) return 'found';
  return looked.missed > 0 ? 'partly' : 'clean';
}

export function show({ report }: Sweep, doing: string): void {
  const { looked, counts, findings, unseen: notSeen } = report;
  const shown = findings
    .slice(0, shownMax)
    .map((finding) => `- ${plainMarkdown(describeFinding(finding), findingCharsMax)}`);
  const more = Object.values(counts).reduce((sum, count) => sum + count, 0) - shown.length;
  const parts = [
    `### ${doing}`,
    `Looked at ${looked.open} sagas without an ending, ${looked.ended} with one, ${looked.servers} servers${looked.missed > 0 ? `, and not at ${looked.missed} more` : ''}. Found ${describeCounts(counts)}.`,
    ...notSeen.map(
      ({ what, failure, why }) => `**Could not look at ${what}** (${failure}): ${plainMarkdown(why, findingCharsMax)}`,
    ),
    [...shown, ...(more > 0 ? [`- and ${more} more`] : [])].join('\n'),
    '\u00a0',
  ];
  setCurrentDetails(parts.filter((part) => part !== '').join('\n\n'));
}

/** As often as the settings let a step look. */
export function tryToLook<T>(what: string, act: Act<T>) {
  return attempt({ step: new Step(what, what), act });
}

/** A saga of its own. @returns false where it was started before */
export async function startBeside(
  workflow: WorkflowName,
  request: { reference: string },
  options: Pick<ChildWorkflowOptions, 'staticSummary' | 'workflowIdReusePolicy'>,
): Promise<boolean> {
  const workflowId = workflowIdOf(workflow, request.reference);
  const parentClosePolicy = ParentClosePolicy.ABANDON;
  try {
    await startChild(workflow, { workflowId, args: [request], parentClosePolicy, ...options });
    return true;
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    return false;
  }
}
