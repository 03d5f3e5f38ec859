/** Structured logs to standard error, one JSON object a line; Temporal's own go the same way. */
import { DefaultLogger, type Logger, type LogLevel } from '@temporalio/worker';
import { pino } from 'pino';

export type Log = pino.Logger;

export function createLog(level: string): Log {
  // Synchronous: what was logged before a crash is there after it.
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ dest: 2, sync: true }),
  );
}

/** Temporal's runtime, worker, workflow and activity logs, in our form. */
export function temporalLogger(log: Log): Logger {
  const level = log.level.toUpperCase();
  const known: LogLevel[] = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR'];
  return new DefaultLogger(known.find((name) => name === level) ?? 'INFO', ({ level, message, meta }) => {
    const write = log[level.toLowerCase() as 'trace' | 'debug' | 'info' | 'warn' | 'error'].bind(log);
    const { sdkComponent, error, ...rest } = (meta ?? {}) as Record<string, unknown>;
    write({ ...rest, ...(sdkComponent ? { component: sdkComponent } : {}), ...(error ? { err: error } : {}) }, message);
  });
}
