/** What every command gets. */
import type { Readable } from 'node:stream';
import type { WorkflowName } from '../domain/identity';
import type { Printer } from './print';

export interface CommandContext {
  printer: Printer;
  stdin: Readable;
}

/** Who says something that stays, and why. */
export interface Said {
  by: string;
  note: string;
}

/** A reference, or a workflow id as `list` prints it. */
export interface Target {
  reference: string;
  workflow?: WorkflowName;
}
