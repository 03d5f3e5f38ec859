/** What a preview of a decision tells, and what it is made from: see `preview-of.ts`. */
import { z } from 'zod';
import { decisionNames } from './decisions';
import { waitKinds, type WaitKind } from './progress';
import type { Quote } from './quotes';
import type { Story } from './story-steps';

/**
 * The query of a saga that answers with one. By its name it comes after `progress`, which the Web UI then offers first.
 */
export const previewName = 'whatIf';

/** A cancellation is no decision of a question, but fits each one. */
export const previewable = [...decisionNames, 'cancel'] as const;
export type Previewable = (typeof previewable)[number];

const plannedCallSchema = z.strictObject({
  /** Method and path, as in the provider’s document: `POST /order`. */
  call: z.string(),
  /** Whether it changes something at the provider. */
  changes: z.boolean(),
  /** Made only then. */
  when: z.string().optional(),
});

const nextStepSchema = z.strictObject({
  step: z.string(),
  title: z.string(),
  calls: z.array(plannedCallSchema),
  when: z.string().optional(),
  /** Once for each of a number that is not known yet. */
  each: z.literal(true).optional(),
  /** It puts back what the step did. */
  undoes: z.literal(true).optional(),
  /** This saga does not undo it. */
  irreversible: z.literal(true).optional(),
});
export type NextStep = z.infer<typeof nextStepSchema>;

export const previewSchema = z.strictObject({
  decision: z.enum(previewable),
  does: z.string(),
  /** The question that it would answer; absent where nothing waits. */
  question: z.string().optional(),
  kind: z.enum(waitKinds).optional(),
  /** Why it would not be taken; then nothing else is told. */
  refused: z.string().optional(),
  /** In their order; those that run side by side stand together. */
  next: z.array(nextStepSchema),
  spends: z.string(),
  notes: z.array(z.string()),
});
export type Preview = z.infer<typeof previewSchema>;

/** An undo that the saga has remembered. `acts`: false where nothing can safely put it back. */
export interface Armed {
  step: string;
  title: string;
  acts: boolean;
}

export interface Standing extends Omit<Story, 'isPlaced'> {
  mode: 'undoable' | 'suspended' | 'placed';
  /** Level by level, the first one first; a level that is being undone is not among them. */
  armed: readonly (readonly Armed[])[];
  /** The saga goes back, or has nothing to do but to write its end. */
  isEnding: boolean;
  quote: Quote | undefined;
  waiting?: Asked | undefined;
}

/** What waits. */
export interface Asked {
  id: string;
  kind: WaitKind;
  step: string;
  /** The steps that wait together, as a person reads them. */
  tried: readonly { step: string; title: string }[];
  undoing: boolean;
  /** False where a cancellation does not end the wait. */
  heedsCancel: boolean;
  takenBack: boolean;
}
