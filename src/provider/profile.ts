/** How a profile's conditions are read in an answer. */
import { createHash } from 'node:crypto';
import { isPresent, type Condition, type Pointers, type Profile } from '../domain/profile';
import { segmentsOf, step } from './json-pointer';

/** @returns false for what is not declared. `status` holds: who asks has looked at the status */
export function holds(condition: Condition | undefined, body: unknown): boolean {
  if (condition === undefined) return false;
  if (condition === 'status') return true;
  const all = Object.entries(condition);
  return all.length > 0 && all.every(([pointer, wanted]) => eachFits(segmentsOf(pointer), body, wanted));
}

/** Every element at a `*` has to fit; an empty list does not. */
function eachFits([segment, ...rest]: readonly string[], value: unknown, wanted: Pointers[string]): boolean {
  if (segment === undefined) {
    if (wanted === 'present') return isPresent(value);
    return Array.isArray(wanted) ? wanted.some((one) => one === value) : wanted === value;
  }
  const found = step(value, segment);
  return found.length > 0 && found.every((element) => eachFits(rest, element, wanted));
}

/** Short: workers have it in their identity, by which it is seen that two read the provider differently. */
export function digestOf(profile: Profile): string {
  return createHash('sha256').update(JSON.stringify(profile)).digest('hex').slice(0, 8);
}
