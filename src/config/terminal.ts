import type { Environment } from './settings';

/** What the terminal of a command can do, and how the command was called. */
export interface Terminal {
  /** Lines can be written over. */
  draws: boolean;
  /** https://no-color.org */
  hasColors: boolean;
  /** What a person types before a command: `order-saga`, or in a checkout `npm run cli --`. */
  self: string;
}

export function readTerminal(env: Environment = process.env): Terminal {
  return {
    draws: env['TERM'] !== 'dumb',
    hasColors: !env['NO_COLOR'],
    self: env['npm_lifecycle_event'] === 'cli' ? 'npm run --silent cli --' : 'order-saga',
  };
}
