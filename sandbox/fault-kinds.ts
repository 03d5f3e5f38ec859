/** Every way in which a call can fail on demand. */

/** Whether the call takes effect although it fails. A gate changes neither the effect nor the answer. */
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
  garbage: 'after',
  oversized: 'after',
  truncated: 'after',
  empty: 'after',
  'other-body': 'after',
  gate: 'neither',
} as const;

export type FaultKind = keyof typeof faultMoments;
export const faultKinds = Object.keys(faultMoments) as [FaultKind, ...FaultKind[]];
