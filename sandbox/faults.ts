/**
 * Which calls fail, and when. A plan says which calls it strikes; `exchange.ts` says how a struck call looks on the
 * wire.
 *
 *     arrives ──▶ [gate, held before] ──▶ effect ──▶ [gate, held after] ──▶ answer
 *                         kinds 'before' stop here ┘       kinds 'after' spoil this ┘
 *
 * Every plan counts the calls that match it from when it was added, also those that another plan struck. If several
 * plans would strike one call, the first added wins; a gate strikes in addition.
 */
import { z } from 'zod';
import { type EndpointName, endpointNames } from './endpoints';
import { type CallMatch, callMatchSchema } from './call-match';
import { chanceOf } from './chance';
import { type FaultKind, faultKinds, oddities } from './fault-kinds';
import { Happenings } from './happenings';
import type { Call, Ledger } from './ledger';

const id = z.number().int().positive();

const endpoint = z.enum([...endpointNames, '*']);

export const faultSchema = z
  .strictObject({
    endpoint,
    match: callMatchSchema.optional(),
    kind: z.enum(faultKinds),
    /** Only the n-th matching call: the same as `from: n, times: 1`. */
    nth: id.optional(),
    /** The first matching call that is struck; default 1. */
    from: id.optional(),
    /** How many consecutive calls; default 1. */
    times: z.union([id, z.literal('all')]).optional(),

    /**
     * `refuse-before` (default 422), `refuse-after` (one that says nothing of the effect), `error-*` (500), `redirect`
     * (302), `redirect-after` (303).
     */
    status: z.number().int().min(300).max(599).optional(),
    /**
     * The JSON body instead of the usual one, for `refuse-*`, `error-*`, `other-body` (default there: accepted) and
     * `says-no-*` (default one of many ways to say no).
     */
    body: z.unknown().optional(),
    /** `error-code`: the code in the body, default 500. */
    code: z.number().int().min(400).optional(),
    /** `error-code`: under `data` (default), or at the top of the body. */
    codeAt: z.enum(['data', 'top']).optional(),
    /** `odd`: in which form; default one of those that are no lie. */
    oddity: z.enum(oddities).optional(),
    /** `rate-limit`: the Retry-After header, in seconds; default: none is sent. */
    retryAfter: z.number().nonnegative().optional(),
    /** `redirect`, `redirect-after`: default a path of the sandbox that does not exist. */
    location: z.string().optional(),
    /** `slow`: how long the answer is delayed after the effect, default 100. */
    delayMs: z.number().int().nonnegative().optional(),
    /** `gate`: held before its effect (default) or after it. */
    hold: z.enum(['before', 'after']).optional(),
  })
  .refine((fault) => fault.nth === undefined || (fault.from === undefined && fault.times === undefined), {
    message: 'nth cannot be combined: use from and times for more than one call',
  })
  .refine((fault) => !fault.kind.startsWith('redirect') || (fault.status ?? 300) < 400, {
    message: 'a redirect needs a status from 300 to 399',
  });

export type FaultSpec = z.infer<typeof faultSchema>;

interface RandomFaults {
  seed: number;
  /** The share of calls that are struck, 0 to 1. */
  rate: number;
  kinds: readonly Exclude<FaultKind, 'gate'>[];
  endpoints: readonly EndpointName[];
}

/** A strike that is about to happen. */
export interface Strike {
  faultId: string;
  spec: FaultSpec;
  /** Resolves when the gate opens; for other kinds already resolved. */
  opened: Promise<void>;
}

interface Plan {
  id: string;
  /** Counts the call if it matches. @returns what strikes it */
  strike: (call: Call) => Strike['spec'] | undefined;
  opened: Promise<void>;
  open: () => void;
}

export class Faults {
  private plans: Plan[] = [];
  private added = 0;
  private readonly strikes: Happenings<Ledger['faultsStruck'][number]>;

  constructor(private readonly ledger: Ledger) {
    this.strikes = new Happenings(ledger.faultsStruck);
  }

  /** @returns the fault's id. @throws ZodError for an invalid plan */
  add(fault: FaultSpec): string {
    const spec = faultSchema.parse(fault);
    const from = spec.nth ?? spec.from ?? 1;
    const times = spec.times === 'all' ? Infinity : (spec.times ?? 1);
    let counted = 0;
    return this.plan((call) => {
      if (!fits(call, spec)) return undefined;
      counted += 1;
      return counted >= from && counted < from + times ? spec : undefined;
    });
  }

  /**
   * Strikes at random, but the same calls every time: the seed, the endpoint and its number of calls decide, so that
   * calls of other endpoints change nothing.
   */
  random({ seed, rate, kinds, endpoints }: RandomFaults): string {
    const counted = new Map<EndpointName, number>();
    return this.plan(({ endpoint }) => {
      if (endpoint === null || !endpoints.includes(endpoint)) return undefined;
      const nth = (counted.get(endpoint) ?? 0) + 1;
      counted.set(endpoint, nth);
      const chance = chanceOf(`${seed}/${endpoint}/${nth}`);
      if (chance() >= rate) return undefined;
      const kind = kinds[Math.floor(chance() * kinds.length)];
      return kind === undefined ? undefined : { endpoint, kind };
    });
  }

  /** Opens a gate for good: held calls go on, later ones pass. Throws if there is no such fault. */
  release(id: string): void {
    if (!this.plans.some((plan) => plan.id === id)) throw new Error(`There is no fault ${id}`);
    this.lift(id);
  }

  /** Removes this fault, if it still exists; calls that it struck stay struck. */
  lift(id: string): void {
    for (const plan of this.plans) if (plan.id === id) plan.open();
    this.plans = this.plans.filter((plan) => plan.id !== id);
  }

  /** Removes all faults; calls held at gates go on, calls that hang do not. */
  clear(): void {
    for (const plan of this.plans) plan.open();
    this.plans = [];
  }

  /** Counts a call in every plan. @returns what strikes it: at most one gate and one other fault */
  strikesOn(call: Call): { gate?: Strike; fault?: Strike } {
    const struck: { gate?: Strike; fault?: Strike } = {};
    for (const { id, strike, opened } of this.plans) {
      const spec = strike(call);
      if (!spec) continue;
      struck[spec.kind === 'gate' ? 'gate' : 'fault'] ??= { faultId: id, spec, opened };
    }
    return struck;
  }

  /** Written after the effect, for the kinds that have one, and when a call is held at a gate. */
  struck({ faultId, spec }: Strike, call: Call): void {
    if (call.endpoint === null) return;
    call.faults.push({ id: faultId, kind: spec.kind });
    const { endpoint, seq } = call;
    this.strikes.happened(this.ledger.struck({ faultId, kind: spec.kind, endpoint, callSeq: seq }));
  }

  whenStruck(faultId: string, times = 1): ReturnType<typeof this.strikes.when> {
    return this.strikes.when((strike) => strike.faultId === faultId, times);
  }

  /** The sandbox closes. */
  abandon(reason: Error): void {
    this.clear();
    this.strikes.abandon(reason);
  }

  private plan(strike: Plan['strike']): string {
    let open = () => {};
    const opened = new Promise<void>((resolve) => (open = resolve));
    const id = `fault-${++this.added}`;
    this.plans.push({ id, strike, opened, open });
    return id;
  }
}

/** True if a call is to the endpoint (`*`: any) and names what `match` names. */
export function fits(call: Call, wanted: { endpoint: EndpointName | '*'; match?: CallMatch | undefined }): boolean {
  if (call.endpoint === null || (wanted.endpoint !== '*' && call.endpoint !== wanted.endpoint)) return false;
  const named = call.names;
  return Object.entries<unknown>(wanted.match ?? {}).every(
    ([field, value]) => value === undefined || named[field as keyof CallMatch]?.some((one) => one === value),
  );
}
