/** The answer of the `progress` query: the contract's shape, as zod schemas so that `schemas/` is made from them. */
import { z } from 'zod';
import { callFailureNames, owners } from './failures';
import { workflowNames } from './identity';
import { decisionNames } from './decisions';
import { leftoverSchema, sagaOutcomes } from './outcomes';

/** The kinds of waiting for a person. Each is also a state of the saga. */
export const waitKinds = [
  'stuck',
  'refused',
  'outcome-unknown',
  'approval',
  'duplicate',
  'over-limit',
  'servers',
] as const;
export type WaitKind = (typeof waitKinds)[number];

export function isWait(state: string | undefined): state is WaitKind {
  return waitKinds.some((kind) => kind === state);
}

/** The others are questions that somebody's rule asks: nothing has gone wrong. */
export function isTrouble(kind: WaitKind): boolean {
  return kind === 'stuck' || kind === 'refused' || kind === 'outcome-unknown' || kind === 'servers';
}

export const sagaStates = ['running', 'held', 'queued', 'settling', ...waitKinds, 'undoing', ...sagaOutcomes] as const;
export type SagaState = (typeof sagaStates)[number];

/**
 * The state, or the outcome of a saga that has ended. `lost`: ended from outside (terminated, timed out), or broken;
 * see SagaLostError. `paused`: the run, or a call of it, is paused in Temporal.
 */
export const listedStates = [...sagaStates, 'paused', 'lost'] as const;
export type ListedState = (typeof listedStates)[number];

/** By what the sagas that wait may be counted. */
export const inboxGroupings = ['kind', 'step', 'account', 'failure'] as const;
export type InboxGrouping = (typeof inboxGroupings)[number];
export const inboxRowsMax = 1_000;

export const stepStatuses = ['pending', 'running', 'done', 'stuck', 'skipped', 'undoing', 'undone', 'failed'] as const;
export type StepStatus = (typeof stepStatuses)[number];

/** It is placed, and nothing is undone any more; the new servers' ids are known; all of them have their firewalls. */
export const milestones = ['placed', 'servers', 'protected'] as const;
export type Milestone = (typeof milestones)[number];

const time = z.iso.datetime();

const reachedSchema = z.strictObject({
  milestone: z.enum(milestones),
  at: time,
  /** The first hundred, with `servers` and `protected`. */
  vmObjectIds: z.array(z.int()).optional(),
});
export type Reached = z.infer<typeof reachedSchema>;

export const stepSchema = z.strictObject({
  id: z.string(),
  title: z.string(),
  status: z.enum(stepStatuses),
  /** Attempts of this step, its undo included; one whose worker was lost counts once. */
  attempts: z.int(),
  startedAt: time.optional(),
  endedAt: time.optional(),
  detail: z.string().optional(),
});
export type StepView = z.infer<typeof stepSchema>;

const lastFailureSchema = z.strictObject({
  failure: z.enum(callFailureNames),
  whose: z.enum(owners),
  message: z.string(),
  endpoint: z.string().optional(),
  status: z.int().optional(),
  body: z.string().optional(),
});

export const waitingSchema = z.strictObject({
  /** Each question has its own; a decision names it. */
  id: z.string(),
  kind: z.enum(waitKinds),
  step: z.string(),
  /** The ids of all steps that wait together, where more than one does. */
  steps: z.array(z.string()).optional(),
  /** How many object ids are asked for. */
  servers: z.int().optional(),
  question: z.string(),
  choices: z.array(z.enum(decisionNames)),
  since: time,
  /** When the approval is rejected, if nobody has decided until then. */
  expiresAt: time.optional(),
  /** When the saga tries by itself, if nobody has decided until then. */
  nextTryAt: time.optional(),
  lastFailure: lastFailureSchema.optional(),
});
export type Waiting = z.infer<typeof waitingSchema>;

/** Another saga works on the same server or subscription, or waits there. This one goes on by itself. */
const queuedSchema = z.strictObject({
  /** `server 7`, `subscription 5`. */
  resource: z.string(),
  since: time,
  /** How many sagas were before it, with the one that works, when it last looked. */
  before: z.int(),
  /** The workflow id of the one that worked when it last looked. */
  holder: z.string(),
  /** What that one waits for a person as, where it is known. */
  holderWaits: z.enum(waitKinds).optional(),
  lookedAt: time,
});
export type Queued = z.infer<typeof queuedSchema>;

/** A call that was sent may still take effect. The saga goes on by itself: nobody is asked before. */
const settlingSchema = z.strictObject({
  step: z.string(),
  /** Nothing can be in flight from then on. */
  until: time,
});
export type Settling = z.infer<typeof settlingSchema>;

/**
 * A decision as it stays in the outcome: who, what, when and where. Secrets in a correction are redacted. `cancel` is a
 * cancellation of which somebody said who wants it, and why; `kind` and `step` are what the saga waited for, if it did.
 */
export const decisionRecordSchema = z.strictObject({
  decision: z.enum([...decisionNames, 'cancel']),
  kind: z.enum(waitKinds).optional(),
  step: z.string().optional(),
  at: time,
  by: z.string().optional(),
  note: z.string().optional(),
  reason: z.string().optional(),
  question: z.string().optional(),
  vmObjectIds: z.array(z.int()).optional(),
  orderId: z.string().optional(),
  /** The steps that were done by hand, of those that waited together. */
  steps: z.array(z.string()).optional(),
  correction: z.record(z.string(), z.unknown()).optional(),
});
export type DecisionRecord = z.infer<typeof decisionRecordSchema>;

export const progressSchema = z.strictObject({
  reference: z.string(),
  workflow: z.enum(workflowNames),
  state: z.enum(sagaStates),
  steps: z.array(stepSchema),
  /** In the order in which it came to them. */
  reached: z.array(reachedSchema),
  waiting: waitingSchema.optional(),
  queued: queuedSchema.optional(),
  settling: settlingSchema.optional(),
  leftovers: z.array(leftoverSchema),
  decisions: z.array(decisionRecordSchema),
});
export type ProgressView = z.infer<typeof progressSchema>;
