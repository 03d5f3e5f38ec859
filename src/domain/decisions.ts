/**
 * The decisions of a person while a saga waits. Each is a signal and an update of the same name, with one JSON object.
 *
 * `note` is the evidence: it is mandatory where a decision asserts something that only a person can know, or leaves
 * something behind. `by` says who; Temporal's Web UI does not show it. `question` is the id of the question that was
 * read, and mandatory: by now the saga may ask another one in the same words, about another call.
 */
import { z } from 'zod';
import { lazy } from './lazy';
import { foundServersSchema } from './requests';
import { isFilled } from './values';

const wellFormed = (given: string) => given.toWellFormed();
const text = () => z.string('must be a string').overwrite(wellFormed);
const note = () => text().optional();
const filled = (why: string) => z.string(why).overwrite(wellFormed).refine(isFilled, why);
const by = () => filled('is required: who you are');
const evidence = () => filled('is required: say how you know');
const named = () => z.string('is required: the id of the question that you answer');

const any = () => ({ question: named(), by: by(), note: note() });
const decision = <T extends z.ZodRawShape>(fields: () => T) => lazy(() => z.strictObject({ ...any(), ...fields() }));
const assertion = <T extends z.ZodRawShape>(fields: () => T) =>
  lazy(() => z.strictObject({ ...any(), note: evidence(), ...fields() }));
const nothingElse = () => ({});

export const decisionSchemas = {
  retry: decision(() => ({
    /** Fields of the request to change first; which ones fit depends on the step that waits. */
    correction: z.record(z.string(), z.unknown(), 'must be a JSON object').optional(),
  })),
  skip: assertion(nothingElse),
  markDone: assertion(() => ({
    /** Ids of the steps that were done, where more than one waits; the others are asked about again. */
    steps: z.array(text(), 'must be a list of step ids').min(1, 'must name at least one step').optional(),
  })),
  confirmPlaced: assertion(() => ({
    vmObjectIds: foundServersSchema().optional(),
    /** As the provider's control panel shows it. */
    orderId: z
      .union(
        [text().min(1, 'must not be empty'), z.int().transform(String)],
        'must be a string, or a whole number of at most 15 digits',
      )
      .optional(),
  })),
  confirmNotPlaced: assertion(nothingElse),
  /** The provider has cancelled or reversed by itself what was placed, or is thought to be. */
  markCancelled: assertion(nothingElse),
  approve: decision(nothingElse),
  reject: decision(() => ({ reason: text().optional() })),
  provideServers: decision(() => ({ vmObjectIds: foundServersSchema() })),
};

/**
 * Sent as a signal before Temporal's own cancellation, which names no person. The reason of that cancellation is the
 * signal's `token`: the words count for it, and for no other one.
 */
export const cancelledBySignal = 'cancelledBy';
export const cancellationSchema = lazy(() =>
  z.strictObject({
    by: by(),
    note: evidence(),
    /** Only while it waits at this question. */
    question: z.string().optional(),
  }),
);
export const cancellerSchema = lazy(() => cancellationSchema().extend({ token: z.string().min(1) }));
export type Cancellation = z.output<ReturnType<typeof cancellationSchema>>;

/** The failure of an update that was refused; its details say `movedOn` where that question was answered before. */
export const decisionRefused = 'DecisionRefused';

export type DecisionName = keyof typeof decisionSchemas;
export const decisionNames = Object.keys(decisionSchemas) as DecisionName[];

export type Decision = {
  [D in DecisionName]: { decision: D } & z.output<ReturnType<(typeof decisionSchemas)[D]>>;
}[DecisionName];

const saw = { note: 'where you saw it' };
const hint = (does: string, more: object = {}) => {
  return { does, example: JSON.stringify({ question: 'its id', by: 'you', ...more }) };
};

/** The Web UI shows these under each decision's name, whatever is asked; at a question, `answers.ts` says what it does. */
export const decisionHints: Record<DecisionName, { does: string; example: string }> = {
  retry: hint('Try the waiting step again'),
  skip: hint('Skip the waiting step and go on', { note: 'why it can be left out' }),
  markDone: hint('You have done it by hand: go on as if the call had succeeded', {
    note: 'where you did it, and what you saw',
  }),
  confirmPlaced: hint(
    'It was placed: go on without placing it again (optional: "vmObjectIds":[…], "orderId":"…")',
    saw,
  ),
  confirmNotPlaced: hint('It was not placed: place it again; a clean-up deletes the cart items', {
    note: 'where you looked',
  }),
  markCancelled: hint('It was placed, and the provider has cancelled it: end, and place nothing again', saw),
  approve: hint('Say yes: it is placed as the question says'),
  reject: hint('Say no: nothing is placed', { reason: 'why' }),
  provideServers: hint('Name the object ids of the new servers', { vmObjectIds: ['object id'] }),
};

/** An example names at most this many steps, or has so many places; an operator adds what is missing. */
const stepsMax = 3;
const placesMax = 20;

interface Asked {
  /** The question's. */
  id: string;
  /** That wait together, where more than one does. */
  steps?: readonly string[];
  /** How many object ids are asked for. */
  servers?: number;
}

/** The JSON to paste as an answer. What only a look can tell is no answer until somebody has filled it in. */
export function exampleFor(name: DecisionName, { id, steps = [], servers = 1 }: Asked): string {
  const example = JSON.parse(decisionHints[name].example) as object;
  const places = Array.from({ length: Math.min(servers, placesMax) }, (_, index) => `object id ${index + 1}`);
  return JSON.stringify({
    ...example,
    question: id,
    ...(name === 'markDone' && steps.length > 0 ? { steps: steps.slice(0, stepsMax) } : {}),
    ...(name === 'provideServers' ? { vmObjectIds: places } : {}),
  });
}
