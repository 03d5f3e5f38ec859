/** How a profile's conditions are read in an answer. */
import { createHash } from 'node:crypto';
import { isPresent, type Condition, type Pointers, type Profile } from '../domain/profile';
import { allFitAt } from './json-pointer';

/** @returns false for what is not declared. `status` holds: who asks has looked at the status */
export function holds(condition: Condition | undefined, body: unknown): boolean {
  if (condition === undefined) return false;
  if (condition === 'status') return true;
  const all = Object.entries(condition);
  return all.length > 0 && all.every(([pointer, wanted]) => allFitAt(pointer, body, (value) => isAs(wanted, value)));
}

function isAs(wanted: Pointers[string], value: unknown): boolean {
  return wanted === 'present' ? isPresent(value) : [wanted].flat().some((one) => one === value);
}

/** Short: workers have it in their identity, by which it is seen that two read the provider differently. */
export function digestOf(profile: Profile): string {
  return createHash('sha256').update(JSON.stringify(profile)).digest('hex').slice(0, 8);
}
