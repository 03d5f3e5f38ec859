/** Structured logs to standard error, one JSON object a line; Temporal's own go the same way. */
import { DefaultLogger, type Logger, type LogLevel } from '@temporalio/worker';
import { pino } from 'pino';

export type Log = pino.Logger;

export function createLog(level: string): Log {
  // Synchronous: what was logged before a crash is there after it.
  return pino(
    {
      level,
      base: null,
      formatters: { level: (label) => ({ level: label }) },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    pino.destination({ dest: 2, sync: true }),
  );
}

/** Temporal's runtime, worker, workflow and activity logs, in our form. */
export function temporalLogger(log: Log): Logger {
  const level = log.level.toUpperCase();
  const known: LogLevel[] = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR'];
  return new DefaultLogger(known.find((name) => name === level) ?? 'INFO', ({ level, message, meta }) => {
    const write = log[level.toLowerCase() as 'trace' | 'debug' | 'info' | 'warn' | 'error'].bind(log);
    const {
      sdkComponent,
      error,
      task: _task,
      taskEncoded: _encoded,
      ...rest
    } = (meta ?? {}) as Record<string, unknown>;
    write(
      {
        ...(withoutPayloads(rest) as object),
        ...(sdkComponent ? { component: sdkComponent } : {}),
        ...(error ? { err: error } : {}),
      },
      message,
    );
  });
}

/**
 * At trace level Temporal logs each task as it came, and a task that it cannot read at any level. Payloads hold passwords,
 * unencrypted where there are no keys: they are not for a log.
 */
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
