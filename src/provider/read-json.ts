/** Reads the JSON of an answer so that nothing of it changes: a number that JavaScript cannot hold stays as its text. */
import { isSafeNumber, parse } from 'lossless-json';

/** Levels of arrays and objects. Real answers have a handful; printing or copying thousands would overflow the stack. */
const depthMax = 64;

/**
 * @returns null for an empty body. A text that names one field twice, with two values, is unreadable: which one counts
 * is not known
 */
export function readJson(text: string): { json: unknown } | { unreadable: string } {
  const trimmed = text.replace(/^\uFEFF/, '').trim();
  if (trimmed === '') return { json: null };
  let json: unknown;
  try {
    json = parse(trimmed, undefined, readNumber);
  } catch (error) {
    const isTwice = error instanceof SyntaxError && error.message.startsWith('Duplicate key');
    return { unreadable: isTwice ? 'its body names a field twice' : 'its body is not JSON' };
  }
  if (isDeeperThan(depthMax, json)) return { unreadable: `its body is nested deeper than ${depthMax} levels` };
  return { json };
}

/** A number that would lose digits, such as an id beyond 2^53, is kept as its text. */
function readNumber(text: string): number | string {
  return isSafeNumber(text) ? Number(text) : text;
}

function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(levels - 1, inner));
}
