/** A look which firewalls protect a server. It is no saga: it has no reference and no row in the journal. */
import { z } from 'zod';
import { lazy } from './lazy';

export const firewallsOfSchema = lazy(() =>
  z.strictObject({ vmObjectId: z.int('must be a whole number').positive('must be a whole number above 0') }),
);

export const serverFirewallsSchema = lazy(() =>
  z.union([
    z.strictObject({ vmObjectId: z.int(), firewalls: z.array(z.int()) }),
    /** The answer as it came, where no list can be read from it; one over the size limit is cut to an excerpt. */
    z.strictObject({ vmObjectId: z.int(), unreadable: z.unknown() }),
  ]),
);
export type ServerFirewalls = z.infer<ReturnType<typeof serverFirewallsSchema>>;

/** Each look is a run of its own: the answer of another one may be old by now. */
export function lookIdOf(vmObjectId: number, look: string): string {
  return `firewalls-of/${vmObjectId}/${look}`;
}
