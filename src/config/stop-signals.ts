/**
 * The first import of each program: the first process of a container loses a signal that nobody handles yet. All of them
 * ask for the same, and one that comes again changes nothing: a terminal and npm send one each, and a call is in flight.
 */
import { constants } from 'node:os';

type Stop = (signal: NodeJS.Signals) => void;

const leave: Stop = (signal) => process.exit(128 + constants.signals[signal]);

/** Nothing is in flight as long as nobody says how to stop. */
let stop = leave;

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const) process.on(signal, () => stop(signal));

/** @param inOrder is called once, by the first signal */
export function onStop(inOrder: Stop): void {
  stop = (signal) => {
    stop = () => undefined;
    inOrder(signal);
  };
}

/** @param words are written by the first signal, or when nobody reads our output any more; then the process ends */
export function onLeave(words: (signal: NodeJS.Signals) => void): void {
  onStop((signal) => {
    words(signal);
    leave(signal);
  });
}

export function readerIsGone(): void {
  if (stop !== leave) stop('SIGPIPE');
}
