/**
 * A sweep: a run that compares what the journal says with what Temporal and the provider have. It is no saga: it has no
 * reference and no row in the journal, and changes nothing itself. What has to be changed, sagas do that it starts.
 */
import { z } from 'zod';
import { lazy } from './lazy';
import { waysLost } from './lost';

/** The workflow's type, the id of its schedule, and how the id of each of its runs begins. */
export const reconcileWorkflow = 'reconcile';

/** How a sweep fails that could not look at everything: what it has not seen may be anything. */
export const couldNotLook = 'CouldNotLook';

/** The reference of the saga that assigns what the sweep of this time has missed. */
export function repairReference(startedAt: string, vmObjectId: number): string {
  return `reconcile-${startedAt.replace(/\D/g, '').slice(0, 14)}-${vmObjectId}`;
}

/** A repair says nothing of its own, but what was said before: a saga that has spoken since counts more. */
export function isRepair({ workflow, reference }: { workflow: string; reference: string }): boolean {
  return workflow === 'setFirewalls' && /^reconcile-\d{14}-\d+$/.test(reference);
}

const between = (least: number, most: number) => {
  const message = `must be from ${least} to ${most}`;
  return z.number('must be a number').min(least, message).max(most, message);
};

export const reconcileSchema = lazy(() =>
  z.strictObject({
    /** Start `cleanCart` where cart items are left. False: they are only told. */
    clean: z.boolean('must be true or false').default(true),
    /** Start `setFirewalls` where a server lacks firewalls. It assigns, and never unassigns. */
    repair: z.boolean('must be true or false').default(false),
    /** Ended sagas are looked at that began within so many days; those without an ending always. */
    days: between(1, 3_660).default(30),
    /** Servers that are compared: those that lack firewalls, then all in turn. */
    servers: between(0, 5_000).int('must be a whole number').default(1_000),
    /** How many servers are looked at, or sagas started, in one second. */
    perSecond: between(0.1, 20).default(2),
  }),
);
export type ReconcileRequest = z.output<ReturnType<typeof reconcileSchema>>;
export type ReconcileOptions = z.input<ReturnType<typeof reconcileSchema>>;

/**
 * `running`: a clean-up is under way. `ended-before`: one has ended since, and a person said there what stays; one that
 * was cancelled or failed does not count. `not-asked`: by the request, or no clean-up is for this workflow.
 */
const cleanUps = ['started', 'running', 'ended-before', 'not-asked'] as const;
export type CleanUp = (typeof cleanUps)[number];

/** The workflow id of the saga that the sweep has started about firewalls. */
const repairSchema = z.string().optional();

const ids = z.array(z.int());

const findingSchema = z.discriminatedUnion('kind', [
  /** Begun, and will not end by itself. */
  z.strictObject({ kind: z.literal('lost'), saga: z.string(), how: z.enum(waysLost) }),
  /** Added, not deleted, and in no order; the saga goes on nowhere. */
  z.strictObject({ kind: z.literal('cart-items'), saga: z.string(), cartItemIds: ids, cleanUp: z.enum(cleanUps) }),
  /** It was sent, nobody knows whether it was placed, and the saga that would ask has ended. */
  z.strictObject({ kind: z.literal('placement-unknown'), saga: z.string(), cleanUp: z.enum(cleanUps) }),
  /** A server that was bought lacks firewalls that were asked for. Without `vmObjectId` its id is not known. */
  z.strictObject({
    kind: z.literal('server-unprotected'),
    saga: z.string(),
    vmObjectId: z.int().optional(),
    firewalls: ids,
    repair: repairSchema,
  }),
  /** The list denies what sagas have done: it lacks what they assigned, or shows what they unassigned. */
  z.strictObject({
    kind: z.literal('firewalls-drift'),
    vmObjectId: z.int(),
    missing: ids,
    surplus: ids,
    repair: repairSchema,
  }),
  /** Two orders or more have it, by what the journal says of its servers and of assigned firewalls. */
  z.strictObject({ kind: z.literal('server-shared'), vmObjectId: z.int(), sagas: z.array(z.string()) }),
  /** The provider answers for others, and for this server gives no list that can be read. It may be gone. */
  z.strictObject({ kind: z.literal('server-unseen'), vmObjectId: z.int(), why: z.string() }),
]);
export type Finding = z.infer<typeof findingSchema>;
export const findingKinds = findingSchema.options.map(({ shape }) => shape.kind.value);

/** `clean`: all is as the journal says; `partly`: all that was seen. `could-not-look`: the rest may be anything. */
export const sweepOutcomes = ['clean', 'partly', 'found', 'could-not-look'] as const;
export type SweepOutcome = (typeof sweepOutcomes)[number];

export const sweepReportSchema = lazy(() =>
  z.strictObject({
    outcome: z.enum(sweepOutcomes),
    startedAt: z.string(),
    looked: z.strictObject({
      /** Sagas without an ending in the journal, of this namespace. */
      open: z.int(),
      /** Sagas with one. */
      ended: z.int(),
      /** Servers whose list was compared, or that the provider refuses to list; those of a cancelled order. */
      servers: z.int(),
      /** Servers that were left alone, because a saga works on them, or has not ended. */
      busy: z.int(),
      /** Servers of ended sagas that were not compared: beyond `servers`, or without a list that can be read. */
      missed: z.int(),
    }),
    /** How much was found of each kind. */
    counts: z.partialRecord(z.enum(findingKinds), z.int()),
    findings: z.array(findingSchema),
    /** All servers up to this id have had their turn: the next sweep goes on behind it. */
    next: z.int().optional(),
    /** Findings that are only counted, because a report has to fit one payload of Temporal's. */
    unlisted: z.int(),
    /** The part that it could not look at, and the failure. */
    unseen: z.array(z.strictObject({ what: z.string(), failure: z.string(), why: z.string() })),
  }),
);
export type SweepReport = z.infer<ReturnType<typeof sweepReportSchema>>;

/** One sentence for a person. */
export function describeFinding(finding: Finding): string {
  switch (finding.kind) {
    case 'lost':
      return `${finding.saga} was lost (${finding.how}): bring it to an end`;
    case 'cart-items':
      return `${finding.saga} has left cart items ${finding.cartItemIds.join(', ')}: ${cleanUpInWords[finding.cleanUp]}`;
    case 'placement-unknown':
      return `nobody knows whether what ${finding.saga} sent was placed: ${cleanUpInWords[finding.cleanUp]}`;
    case 'server-unprotected': {
      const { vmObjectId, firewalls, saga } = finding;
      const server = vmObjectId === undefined ? 'a server of unknown id' : `server ${vmObjectId}`;
      return `${server}, bought by ${saga}, lacks firewalls ${firewalls.join(', ')}${repairInWords(finding)}`;
    }
    case 'firewalls-drift': {
      const { vmObjectId, missing, surplus } = finding;
      const lacks = missing.length > 0 ? [`lacks firewalls ${missing.join(', ')} that were assigned`] : [];
      const shows = surplus.length > 0 ? [`shows firewalls ${surplus.join(', ')} that were unassigned`] : [];
      return `the list of server ${vmObjectId} ${[...lacks, ...shows].join(', and ')}${repairInWords(finding)}`;
    }
    case 'server-shared':
      return `${finding.sagas.join(' and ')} have the same server ${finding.vmObjectId}: correct the ids of one`;
    case 'server-unseen':
      return `server ${finding.vmObjectId} could not be compared: ${finding.why}`;
  }
}

const cleanUpInWords: Record<CleanUp, string> = {
  started: 'a clean-up is started',
  running: 'a clean-up is under way',
  'ended-before':
    'a clean-up has come to its end before: see what was said there; order-saga clean REFERENCE asks again',
  'not-asked': 'look at its record',
};

function repairInWords({ repair }: { repair?: string }): string {
  return repair === undefined ? '' : `: ${repair} assigns them`;
}

/** `2 lost, 1 cart-items`, or `nothing`. */
export function describeCounts(counts: SweepReport['counts']): string {
  const some = findingKinds.flatMap((kind) => (counts[kind] ? [`${counts[kind]} ${kind}`] : []));
  return some.length === 0 ? 'nothing' : some.join(', ');
}
