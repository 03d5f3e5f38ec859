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

/** Needed where several workflows use one reference. */
export interface OfWorkflow {
  workflow?: WorkflowName;
}
