/** The record of one reference, as the journal has it. It outlives Temporal's retention, and has no secret. */
import { z } from 'zod';
import { aboutSchema, effectKinds, effectOutcomes } from './effects';
import { deedSchema } from './deeds';
import { workflowNames } from './identity';
import { leftoverSchema, sagaOutcomes } from './outcomes';
import { decisionRecordSchema, waitingSchema } from './progress';
import { reportSchema, serverSchema } from './results';
import { sagaFailureNames } from './failures';

const time = z.iso.datetime();

/** `intended`: written down before it was sent. Nobody has written down its outcome, nor whether it was sent. */
const recordedOutcomes = ['intended', ...effectOutcomes] as const;

export const endedAs = ['done', 'cancelled', ...sagaFailureNames] as const;

const decidedSchema = z.strictObject({ at: time, by: z.string().optional(), note: z.string().optional() });

const recordedEffectSchema = z.strictObject({
  /** Random. The question about a pivot shows the first eight characters. */
  id: z.string(),
  step: z.string(),
  kind: z.enum(effectKinds),
  activity: z.string(),
  about: aboutSchema,
  /** For a pivot: what a person looks for in the provider's control panel, and the quote that was agreed to. */
  note: z.unknown().optional(),
  /** For a pivot: what it adds to spend limits, unless it was surely not placed, or cancelled by the provider. */
  bought: z
    .strictObject({
      account: z.string().optional(),
      /** From an order. */
      servers: z.int().optional(),
      items: z.int().optional(),
      /** From a quote. */
      total: z.number().optional(),
      currency: z.string().optional(),
      /** From the operator's price list. */
      estimate: z.number().optional(),
      estimatedIn: z.string().optional(),
    })
    .optional(),
  run: z.string(),
  /** Before it was sent, by the journal's clock, as all times are. */
  intendedAt: time,
  answeredAt: time.optional(),
  outcome: z.enum(recordedOutcomes),
  /** Until when it may be in flight; only while the outcome is `intended` or `unknown`. */
  inFlightUntil: time.optional(),
  /** The name of the call's failure, also where a look or a person found later that it took effect. */
  failure: z.string().optional(),
  /** The value of a call that is done, the facts of one that failed. */
  answer: z.unknown().optional(),
  /** The id of the effect that took it back. */
  undoneBy: z.string().optional(),
  /** A person said it: of a pivot, its outcome; of any other effect, that it was done by hand. */
  decided: decidedSchema.optional(),
  /** A person said that the provider has cancelled what a pivot placed. */
  cancelled: decidedSchema.optional(),
  /** A call took effect unexpectedly: after a person said that it had not, or beside the one that stands here. */
  late: z.strictObject({ answer: z.unknown().optional() }).optional(),
});
export type RecordedEffect = z.infer<typeof recordedEffectSchema>;

const recordedEndingSchema = z.strictObject({
  run: z.string(),
  at: time,
  /** `cleanCart` where a clean-up of this reference ended. */
  workflow: z.enum(workflowNames),
  outcome: z.enum(sagaOutcomes),
  /** The name of its failure, if it failed. Absent where it cannot be decrypted. */
  ended: z.enum(endedAs).optional(),
  report: reportSchema.optional(),
  /** Only where the run is done. */
  result: z.unknown().optional(),
});
export type RecordedEnding = z.infer<typeof recordedEndingSchema>;

/** A person corrected the request before its pivot; it holds for every later run of the reference. */
const recordedCorrectionSchema = decidedSchema.extend({
  run: z.string(),
  /** The step that waited. */
  step: z.string(),
  /** The fields with their new values; `items` are numbers of items. Absent where it cannot be decrypted. */
  correction: z.record(z.string(), z.unknown()).optional(),
});
export type RecordedCorrection = z.infer<typeof recordedCorrectionSchema>;

/** The run waited for a person. Its times are by the clock of the run. */
const waitSchema = waitingSchema.pick({ id: true, kind: true, step: true, since: true }).extend({
  /** The question's words, with the quote where there is one. Absent where they cannot be decrypted. */
  asked: z.string().optional(),
  /** Absent while it waits, and where its run was ended from outside. */
  endedAt: time.optional(),
  /** Absent where nobody has decided, nor said who cancels. */
  decision: decisionRecordSchema.optional(),
});
export type Wait = z.infer<typeof waitSchema>;

/** A person's yes: to what, and until when it holds for a pivot. */
const approvalSchema = decidedSchema.extend({
  /** Of the question that was answered. */
  id: z.string(),
  total: z.number().optional(),
  currency: z.string().optional(),
  until: time,
  /** The pivot that was intended by it, and not surely left undone. */
  usedBy: z.string().optional(),
});

const closedSchema = decidedSchema.extend({
  /** Absent where nobody knows the ids. */
  vmObjectId: z.int().optional(),
});
const correctedSchema = decidedSchema.extend({
  vmObjectId: z.int(),
  isOwn: z.boolean(),
  from: z.string().optional(),
  to: z.string().optional(),
});

export const recordSchema = z.strictObject({
  reference: z.string(),
  workflow: z.enum(workflowNames),
  account: z.string().optional(),
  firstSeen: z.strictObject({ at: time, run: z.string() }),
  /** Absent where the journal was restored and knows effects only. */
  request: z.unknown().optional(),
  /** In their order. `request` is the first one, without them. */
  corrections: z.array(recordedCorrectionSchema),
  /** In their order, those of each run. */
  waits: z.array(waitSchema.extend({ run: z.string() })),
  approvals: z.array(approvalSchema),
  /**
   * What was asked of its runs, and by whom, as Temporal knew it: of a run that has waited, was cancelled or reset, or has
   * failed; of one that was ended from outside once a sweep has found it.
   */
  deeds: z.array(deedSchema.extend({ run: z.string() })),
  /** The outcome of its last run; `open` where there is none, or more was done since. */
  state: z.enum(['open', ...sagaOutcomes]),
  /** `none` is sure. `cancelled`: it was placed, and the provider has cancelled it, as a person said. */
  placement: z.enum(['none', 'placed', 'unknown', 'cancelled']),
  /** In the order in which they were intended. */
  effects: z.array(recordedEffectSchema),
  endings: z.array(recordedEndingSchema),
  /** Of all runs, in their order. */
  decisions: z.array(decisionRecordSchema),
  servers: z.array(serverSchema.partial({ firewalls: true, verified: true })).optional(),
  /** They lacked firewalls, and a person has said that nothing is to be done. */
  serversClosed: z.array(closedSchema).optional(),
  /** A person has said which servers the order has: this one, or no more. Both orders say so where one got the other's. */
  serversCorrected: z.array(correctedSchema).optional(),
  /** From the quote of what was placed, or from the last quote. */
  total: z.number().optional(),
  currency: z.string().optional(),
  /** From the last endings, without what was settled since. While `state` is `open`: what would be left by now. */
  leftovers: z.array(leftoverSchema),
  /** Parts that are left out above, because they cannot be decrypted here. */
  unreadable: z.array(z.strictObject({ what: z.string(), why: z.string() })).optional(),
  /** Which journal this is from, of which epoch, and when it was read. */
  journal: z.strictObject({ id: z.string(), epoch: time, at: time }),
});
export type SagaRecord = z.infer<typeof recordSchema>;
