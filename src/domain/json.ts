/** Reads JSON so that nothing of it changes: a number that JavaScript cannot hold stays as its text. */
import { isSafeNumber, parse, type OnDuplicateKey } from 'lossless-json';
import { nameOfField } from './problems';

/** Levels of arrays and objects. Real answers have a handful; printing or copying thousands would overflow the stack. */
const depthMax = 64;
const tooDeep = `is nested deeper than ${depthMax} levels`;

/** `where`: a field and its place, for who wrote the text. No word of it is quoted: a secret may be in it. */
type Read = { json: unknown } | { unreadable: string; where: string };

/**
 * @returns null for an empty text. One that names a field twice, with two values, is unreadable: which one counts is not
 * known
 */
export function readJson(text: string): Read {
  const trimmed = text.replace(/^\uFEFF/, '').trim();
  if (trimmed === '') return { json: null };
  try {
    const json = parseLossless(trimmed);
    return isDeeperThan(depthMax, json) ? { unreadable: tooDeep, where: '' } : { json };
  } catch (error) {
    if (!(error instanceof SyntaxError)) return { unreadable: tooDeep, where: '' };
    const [, twice] = /^Duplicate key '(.*)' encountered/s.exec(error.message) ?? [];
    const [, at] = /at position (\d+)$/.exec(error.message) ?? [];
    const before = text.slice(0, text.indexOf(trimmed) + Number(at)).split('\n');
    const where = `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
    if (twice === undefined) return { unreadable: 'is not JSON', where: `: ${where}` };
    return { unreadable: 'names a field twice', where: `: ${nameOfField([twice])}, ${where}` };
  }
}

export class UnreadableJson extends Error {
  override readonly name = 'UnreadableJson';
}

/** @param name what it is, for the sentence. @throws UnreadableJson */
export function parseJson(text: string, name: string): unknown {
  const read = readJson(text);
  if ('json' in read) return read.json;
  throw new UnreadableJson(`${name} ${read.unreadable}${read.where}`);
}

/** @throws Error, which may quote the text */
export function parseLossless(text: string, onDuplicateKey?: OnDuplicateKey): unknown {
  const parseNumber = (number: string) => (isSafeNumber(number) ? Number(number) : number);
  return parse(text, undefined, { parseNumber, onDuplicateKey });
}

function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(levels - 1, inner));
}
