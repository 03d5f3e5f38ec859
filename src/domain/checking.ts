/** What a saga would meet if it began now. It acquires nothing and decides nothing: the saga asks all of it again. */
import { z } from 'zod';
import type { WorkflowName } from './identity';
import { lazy } from './lazy';
import type { Problem } from './problems';
import type { Quote } from './quotes';
import type { OfOthers } from './spending';

export const checkWorkflow = 'check';

/** The field that only requests of this workflow have. */
const fieldOf = {
  provisionServers: 'items',
  changeOrder: 'resources',
  switchPlan: 'plan_id',
  setFirewalls: 'vmObjectId',
} as const satisfies Partial<Record<WorkflowName, string>>;
export type CheckedWorkflow = keyof typeof fieldOf;

const checkedWorkflows = Object.keys(fieldOf) as [CheckedWorkflow, ...CheckedWorkflow[]];

/** The request may have no `reference`. */
export const checkSchema = lazy(() =>
  z.strictObject({ workflow: z.enum(checkedWorkflows), request: z.record(z.string(), z.unknown()) }),
);
export type CheckRequest = z.infer<ReturnType<typeof checkSchema>>;

/** What buying it would meet. */
interface Foreseen {
  /** Sentences: why the saga would end without a purchase. */
  refused: string[];
  /** What a person would be asked before anything is bought. */
  asks: { kind: 'approval' | 'refused' | OfOthers['kind']; why: string }[];
  /** By the quote, or else estimated by the operator's price list. */
  total?: number | undefined;
  currency?: string | undefined;
  /** Why there is no total. */
  unpriced?: string | undefined;
}

export interface CheckReport extends Foreseen {
  /** What is wrong with the request; then nothing else was looked at. */
  problems: Problem[];
  /** Sentences: what could not be looked at now. */
  unknown: string[];
  /**
   * `same`: the journal has it with this very request; `started`: a saga has it that has not begun. Only of a `free` one, or
   * where none is named, the rest was looked at.
   */
  reference?: 'free' | 'same' | 'started' | 'taken' | undefined;
  /** The hold that it would wait for. */
  held?: string;
  /** The saga that works on the same server or subscription, as a workflow id: it would wait for that one. */
  behind?: string;
  quote?: Quote;
  /** The whole order with this alternative in the place of its item; both are numbers from 1. */
  alternatives?: (Foreseen & { item: number; alternative: number })[];
  /** Those that would count it: `spent` so far in the period, and what it `adds`. */
  limits: { account: string; most: number; unit: string; withinMs: number; spent: number; adds: number }[];
}

/** @returns undefined where no workflow takes such a request, or more than one would */
export function workflowTaking(request: Readonly<Record<string, unknown>>): CheckedWorkflow | undefined {
  const [workflow, ...more] = checkedWorkflows.filter((name) => Object.hasOwn(request, fieldOf[name]));
  return more.length > 0 ? undefined : workflow;
}
