/**
 * A text as a secret is looked for in it: decoded again and again until nothing changes, without white space and in
 * lower case. A provider quotes what it was sent in a page, an address, a form, or in JSON within JSON, and in mixtures
 * of these: the decoded text has the secret all the same.
 *
 * Each character knows from where in the original text it is. The work grows with the length of the text: each step
 * looks ahead by a bounded number of characters.
 */
import { decodeHTML } from 'entities';

/** More layers than any answer has. */
const layersMax = 6;

/** `&CounterClockwiseContourIntegral;` is the longest entity. */
const entityCharsMax = 33;

/** Between two texts that are searched as one. It is never decoded away. */
export const separator = '\u0000';

export interface Decoded {
  text: string;
  /** For each character, where it begins and ends in the original text. */
  from: number[];
  to: number[];
}

export function decoded(text: string): Decoded {
  let now = asItIs(text);
  for (let layer = 0; layer < layersMax; layer++) {
    const next = oneLayer(now);
    if (next.text === now.text) break;
    now = next;
  }
  return bare(now);
}

export function asItIs(text: string): Decoded {
  const from = Array.from({ length: text.length }, (_, at) => at);
  return { text, from, to: from.map((at) => at + 1) };
}

function oneLayer({ text, from, to }: Decoded): Decoded {
  const made: Decoded = { text: '', from: [], to: [] };
  const parts: string[] = [];
  for (let at = 0; at < text.length;) {
    const [means, length] = codeAt(text, at);
    parts.push(means);
    made.from.push(...Array.from({ length: means.length }, () => from[at] ?? 0));
    made.to.push(...Array.from({ length: means.length }, () => to[at + length - 1] ?? 0));
    at += length;
  }
  return { ...made, text: parts.join('') };
}

/** What stands there, and how many characters it takes. */
function codeAt(text: string, at: number): [means: string, length: number] {
  const char = text.charAt(at);
  if (char === '&') return entityAt(text, at);
  if (char === '%') return bytesAt(text, at, '%');
  if (char === '=') return bytesAt(text, at, '=');
  if (char === '\\') return escapeAt(text, at);
  return [char, 1];
}

/** HTML, also without the semicolon at its end. */
function entityAt(text: string, at: number): [string, number] {
  const [code] = /^&(?:#x?[0-9a-f]{1,8}|[a-z][a-z0-9]{1,31});?/i.exec(text.slice(at, at + entityCharsMax)) ?? [];
  if (code === undefined) return ['&', 1];
  const means = decodeHTML(code);
  // Of `&copyright` only `&copy` is an entity: the rest stays.
  return means === code ? ['&', 1] : [means, code.length];
}

const utf8 = new TextDecoder('utf-8', { fatal: true });
const bytesMax = 4;

/** `%C3%A9` of addresses and forms, `=C3=A9` of mail: bytes of one character in UTF-8, else one in Latin-1. */
function bytesAt(text: string, at: number, mark: string): [string, number] {
  const bytes: number[] = [];
  for (let next = at; bytes.length < bytesMax && text.charAt(next) === mark; next += 3) {
    const hex = text.slice(next + 1, next + 3);
    if (!/^[0-9a-f]{2}$/i.test(hex)) break;
    bytes.push(Number.parseInt(hex, 16));
    try {
      return [utf8.decode(Uint8Array.from(bytes)), bytes.length * 3];
    } catch {
      // The character has more bytes, or is none.
    }
  }
  return bytes[0] === undefined ? [mark, 1] : [String.fromCharCode(bytes[0]), 3];
}

const escapes: Record<string, string> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f', v: '\v' };

/** JSON, JavaScript, shells. */
function escapeAt(text: string, at: number): [string, number] {
  const [, unicode, byte] = /^\\(?:u([0-9a-f]{4})|x([0-9a-f]{2}))/i.exec(text.slice(at, at + 6)) ?? [];
  const code = unicode ?? byte;
  if (code !== undefined) return [String.fromCharCode(Number.parseInt(code, 16)), code.length + 2];
  const next = text.charAt(at + 1);
  if (next === '' || next === separator) return ['\\', 1];
  return [escapes[next] ?? next, 2];
}

/**
 * Without white space, which wraps base64 and indents pages; without the `+` that stands for a space in forms; without
 * backslashes, of which nobody knows whether they escape something.
 */
function bare({ text, from, to }: Decoded): Decoded {
  const kept = from.flatMap((_, at) => (/[\s+\\]/.test(text.charAt(at)) ? [] : [at]));
  return {
    text: kept.map((at) => lower(text.charAt(at))).join(''),
    from: kept.map((at) => from[at] ?? 0),
    to: kept.map((at) => to[at] ?? 0),
  };
}

/** A few letters have a lower case of two characters: they stay, so that each character keeps its place. */
function lower(char: string): string {
  const small = char.toLowerCase();
  return small.length === char.length ? small : char;
}
