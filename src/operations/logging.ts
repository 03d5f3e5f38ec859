/** JSON lines on standard error, Temporal's own logs, too. A line about a saga names it, and its step or activity. */
import { DefaultLogger, type Logger, type LogLevel } from '@temporalio/worker';
import { pino, type DestinationStream } from 'pino';
import { readWorkflowId } from '../domain/identity';

export type Log = pino.Logger;

export async function createLog(level: string): Promise<Log> {
  return pino(
    {
      level,
      base: null,
      formatters: { level: (label) => ({ level: label }) },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    // Synchronous, so that a crash loses no line.
    (await linesForPeople()) ?? toStandardError(),
  );
}

/** A line that cannot be written (the disk is full, the reader is gone) is lost; the process and its calls go on. */
function toStandardError(): DestinationStream {
  const destination = pino.destination({ dest: 2, sync: true });
  destination.on('error', () => undefined);
  return destination;
}

/** @returns a stream of lines for people, on a terminal with `pino-pretty` installed */
async function linesForPeople(): Promise<DestinationStream | undefined> {
  if (!process.stderr.isTTY) return undefined;
  try {
    const { default: pretty } = await import('pino-pretty');
    return pretty({ destination: toStandardError() });
  } catch {
    return undefined;
  }
}

/** Logs of Temporal's runtime, worker, workflows and activities, in our format. */
export function temporalLogger(log: Log): Logger {
  return new DefaultLogger(log.level.toUpperCase() as LogLevel, ({ level, message, meta }) => {
    log[level.toLowerCase() as Lowercase<LogLevel>](fieldsOf((meta ?? {}) as Record<string, unknown>), message);
  });
}

/** Our names of the SDK's fields, which has more than one for the same thing. */
const names: Record<string, string> = {
  ...{ workflowType: 'workflow', runId: 'run', workflowRunId: 'run', activityType: 'activity' },
  ...{ sdkComponent: 'component', error: 'err' },
};
const leftOut = ['activityId', 'taskToken', 'task', 'taskEncoded', 'isLocal'];

/** Fields of a line about a workflow, an activity or the worker. */
function fieldsOf({ workflowId, ...meta }: Record<string, unknown>): object {
  const saga = typeof workflowId === 'string' ? readWorkflowId(workflowId) : undefined;
  const given = Object.entries({ ...(saga ?? { workflowId }), ...meta });
  const kept = given.filter(([name, value]) => !leftOut.includes(name) && value !== undefined && value !== '');
  const fields = kept.map(([name, value]) => [names[name] ?? name, name === 'error' ? value : withoutPayloads(value)]);
  return Object.fromEntries(fields) as object;
}

/** Temporal logs tasks with payloads, at trace level or where it cannot read them: passwords may be clear there. */
function withoutPayloads(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof Uint8Array) return '[bytes]';
  if (Array.isArray(value)) return value.map(withoutPayloads);
  const { toJSON } = value as { toJSON?: unknown };
  const plain: unknown = typeof toJSON === 'function' ? toJSON.call(value) : value;
  if (plain === null || typeof plain !== 'object') return plain;
  if ('metadata' in plain && 'data' in plain) return '[payload]';
  return Object.fromEntries(Object.entries(plain).map(([name, inner]) => [name, withoutPayloads(inner)]));
}
