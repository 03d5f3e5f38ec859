/** How sagas end: the typed results of the contract, and the report that goes with a failure or a cancellation. */
import { z } from 'zod';
import { leftoverSchema, resultOutcomes, sagaOutcomes } from './outcomes';
import { decisionRecordSchema, stepSchema } from './progress';
import { quoteSchema } from './quotes';
import { workflowNames, type WorkflowName } from './identity';

/** A provider's answer of undocumented format, unchanged; one over the size limit is cut to an excerpt. */
const rawResponse = z.unknown();

export const serverSchema = z.strictObject({
  vmObjectId: z.int(),
  /** As the provider listed them; where its list could not be read, as they were assigned. */
  firewalls: z.array(z.int()),
  /** True where the provider's own list shows every firewall that was asked for, and where none was asked for. */
  verified: z.boolean(),
});
export type Server = z.infer<typeof serverSchema>;

const insteadSchema = z.strictObject({ item: z.int(), alternative: z.int(), plan_id: z.int().optional() });

const decisions = z.array(decisionRecordSchema);

/** `partly`: something was skipped, or is left over. */
const outcome = z.enum(resultOutcomes);

const quotedResult = {
  reference: z.string(),
  outcome,
  /** Absent where it was placed before, on terms that are not known any more. */
  quote: quoteSchema().optional(),
  /** False only for a request with `quoteOnly`. */
  placed: z.boolean(),
  decisions,
};

export const resultSchemas = {
  provisionServers: z.strictObject({
    reference: z.string(),
    outcome,
    cartItemIds: z.array(z.int()),
    /** Items that were sold out, by their number; the alternative that took the place of each, and the plan bought. */
    instead: z.array(insteadSchema).optional(),
    order: rawResponse,
    servers: z.array(serverSchema),
    /** Ids of the steps that a person skipped. */
    skipped: z.array(z.string()),
    leftovers: z.array(leftoverSchema),
    decisions,
  }),
  changeOrder: z.strictObject({
    ...quotedResult,
    /** Null where nothing was placed, and where the order is known without an answer. */
    order: rawResponse,
  }),
  switchPlan: z.strictObject({ ...quotedResult, finalQuote: quoteSchema().optional() }),
  setFirewalls: z.strictObject({
    reference: z.string(),
    outcome,
    vmObjectId: z.int(),
    assigned: z.array(z.int()),
    unassigned: z.array(z.int()),
    /** As the provider's list shows them; where it was not read at last, as they should be by what was known. */
    firewalls: z.array(z.int()),
    verified: z.boolean(),
    /** Absent where there are none. */
    leftovers: z.array(leftoverSchema).optional(),
  }),
  cleanCart: z.strictObject({
    reference: z.string(),
    outcome,
    deleted: z.array(z.int()),
    /** Cart items that belong to an order, as a person confirmed. */
    leftAlone: z.array(z.int()),
    leftovers: z.array(leftoverSchema),
    decisions,
  }),
};

export type ResultOf = { [W in WorkflowName]: z.infer<(typeof resultSchemas)[W]> };
/** A saga definition returns it; the engine adds the outcome. */
export type SagaResult<W extends WorkflowName> = Omit<ResultOf[W], 'outcome'>;

/** `details[0]` of a failure, and the memo `report` of a cancelled run: what was done, undone and left over. */
export const reportSchema = z.strictObject({
  reference: z.string(),
  workflow: z.enum(workflowNames),
  /** `why` says whether the saga failed, and how, or was cancelled. */
  outcome: z.enum(sagaOutcomes),
  why: z.string(),
  steps: z.array(stepSchema),
  /** The saga knew it when it ended: cart item ids, the provider's answer to the order, quotes. */
  known: z.record(z.string(), z.unknown()),
  leftovers: z.array(leftoverSchema),
  decisions,
  /** With `InvalidRequest` every field that is wrong, with `ReferenceTaken` each that differs. */
  problems: z.array(z.strictObject({ field: z.string(), message: z.string() })).optional(),
});
export type Report = z.infer<typeof reportSchema>;
