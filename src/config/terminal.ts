import type { Environment } from './settings';

/** The abilities of a command's terminal, and how the command was called. */
export interface Terminal {
  /** Lines can be written over. */
  draws: boolean;
  /** https://no-color.org */
  hasColors: boolean;
  /** A person types this before a command: `order-saga`, or in a checkout `npm run cli --`. */
  self: string;
}

export function readTerminal(env: Environment = process.env): Terminal {
  return {
    draws: env['TERM'] !== 'dumb',
    hasColors: !env['NO_COLOR'],
    self: env['npm_lifecycle_event'] === 'cli' ? 'npm run --silent cli --' : 'order-saga',
  };
}
