/** Which fields of two JSON values differ, by name: values are never shown, because they may be secrets. */
import { isRecord } from './values';

/** @returns names such as `items[0].plan_id`, in their order; `''` for the values as a whole; none when alike */
export function differences(one: unknown, other: unknown, at = ''): string[] {
  if (Array.isArray(one) && Array.isArray(other)) {
    const length = Math.max(one.length, other.length);
    return Array.from({ length }).flatMap((_, index) => {
      const name = `${at}[${index}]`;
      if (index >= one.length || index >= other.length) return [name];
      return differences(one[index], other[index], name);
    });
  }
  if (isRecord(one) && isRecord(other)) {
    const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
    return [...keys].flatMap((key) => {
      const name = at === '' ? key : `${at}.${key}`;
      // Only own keys are compared: otherwise `{}` would have an inherited key like `constructor`.
      if (!Object.hasOwn(one, key) || !Object.hasOwn(other, key)) return [name];
      return differences(one[key], other[key], name);
    });
  }
  return Object.is(one, other) ? [] : [at];
}
