/** The texts that came to light on a journey, by the place where somebody could read them. */
import { inspect } from 'node:util';

export class Witness {
  private readonly places = new Map<string, Buffer[]>();

  /** @param what an error with its causes, a description, a printed text: all that is in it counts */
  add(place: string, what: unknown): void {
    const chunks = this.places.get(place) ?? [];
    this.places.set(place, [...chunks, ...allOf(what)]);
  }

  at(place: string): Buffer {
    return Buffer.concat(this.places.get(place) ?? []);
  }

  get names(): string[] {
    return [...this.places.keys()];
  }
}

function allOf(what: unknown): Buffer[] {
  if (Buffer.isBuffer(what)) return [what];
  if (typeof what === 'string') return [Buffer.from(what)];
  const shown = inspect(what, { depth: Infinity, maxArrayLength: null, maxStringLength: null });
  return [Buffer.from(shown), Buffer.from(asJson(what)), ...bytesIn(what, new Set())];
}

function asJson(what: unknown): string {
  try {
    return JSON.stringify(what, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value)) || '';
  } catch {
    // It goes round in circles; the other form shows all of it.
    return '';
  }
}

/** Payloads are bytes: printed they are numbers, in JSON they are base64. */
function bytesIn(value: unknown, seen: Set<unknown>): Buffer[] {
  if (value === null || typeof value !== 'object' || seen.has(value)) return [];
  seen.add(value);
  if (value instanceof Uint8Array) return [Buffer.from(value)];
  return Object.values(value).flatMap((inner) => bytesIn(inner, seen));
}
