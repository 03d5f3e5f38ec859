/** What was asked of a run from outside, and who has, as Temporal's history says it. */
import { z } from 'zod';

export const deedSchema = z.strictObject({
  at: z.iso.datetime(),
  what: z.enum(['started', 'signalled', 'decided', 'cancelled', 'terminated', 'reset']),
  /** Of the signal, or of the decision. */
  name: z.string().optional(),
  /** As the caller calls itself: nobody has verified it. */
  identity: z.string().optional(),
  /** Whom the server has authenticated, where it attributes that. Not of a decision: there it names the worker. */
  principal: z.strictObject({ type: z.string(), name: z.string() }).optional(),
  reason: z.string().optional(),
});
export type Deed = z.infer<typeof deedSchema>;

/** `terminated by jwt ann, as Temporal has authenticated (identity 7@host): enough` */
export function describeDeed({ what, name, identity, principal, reason }: Deed): string {
  const known = principal && `${principal.type} ${principal.name}, as Temporal has authenticated`;
  const who = [known, identity && `identity ${identity}`].filter(Boolean).join('; ');
  const which = name === undefined ? '' : ` (${name})`;
  return `${what}${which}: ${who || 'nobody said who'}${reason ? `: ${reason}` : ''}`;
}
