/** Deterministic random numbers: the same key gives the same numbers, on every machine. */

/** Draws from 0 (inclusive) to 1 (exclusive). */
export function chanceOf(key: string): () => number {
  return mulberry32(fnv1a(key));
}

/** Tommy Ettinger's mulberry32: 32 bits of state, good enough for tests, and short. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** FNV-1a, 32 bits: turns a readable key into a seed. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}
