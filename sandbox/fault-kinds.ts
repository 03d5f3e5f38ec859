/** Every way in which a call can fail on demand. */

/** `after`: the call takes effect although it fails. A gate changes neither the effect nor the answer. */
export const faultMoments = {
  'refuse-before': 'before',
  'refuse-after': 'after',
  'error-before': 'before',
  'error-after': 'after',
  'reset-before': 'before',
  'reset-after': 'after',
  'hang-before': 'before',
  'hang-after': 'after',
  slow: 'after',
  'rate-limit': 'before',
  unauthorized: 'before',
  forbidden: 'before',
  redirect: 'before',
  'redirect-after': 'after',
  'error-code': 'before',
  'says-no-before': 'before',
  'says-no-after': 'after',
  odd: 'after',
  garbage: 'after',
  oversized: 'after',
  truncated: 'after',
  empty: 'after',
  'other-body': 'after',
  gate: 'neither',
} as const;

export type FaultKind = keyof typeof faultMoments;
export const faultKinds = Object.keys(faultMoments) as [FaultKind, ...FaultKind[]];

/**
 * Forms of an answer that the document does not rule out: a byte order mark, a compressed body, an unasked 100
 * Continue, numbers as texts; and of a list of firewalls: its first page, or all of them on their way.
 */
export const honestOddities = ['mark', 'gzip', 'deflate', 'continue', 'texts', 'page', 'pending'] as const;
/** `stale`: a list of firewalls from before the last change, and a directory that shows no order's servers yet. */
export const oddities = [...honestOddities, 'stale'] as const;
export type Oddity = (typeof oddities)[number];
