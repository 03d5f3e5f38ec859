/**
 * A text as a secret is looked for in it: decoded again and again until nothing changes, and in lower case. A provider
 * quotes what it was sent in a page, an address, a form, or in JSON within JSON, and in mixtures of these: the decoded
 * text has the secret all the same.
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

/** @param mail `=41` is a code, too, as in mail. In an address it is a value that begins so. */
export function decoded(text: string, { mail }: { mail: boolean }): Decoded {
  const codes = mail ? /[&%\\=]/ : /[&%\\]/;
  let now = asItIs(text);
  for (let layer = 0; layer < layersMax && codes.test(now.text); layer++) {
    const next = oneLayer(now, mail);
    if (next.text === now.text) break;
    now = next;
  }
  return now;
}

export function asItIs(text: string): Decoded {
  const from = Array.from({ length: text.length }, (_, at) => at);
  return { text, from, to: from.map((at) => at + 1) };
}

function oneLayer(coded: Decoded, mail: boolean): Decoded {
  return read(coded, (at) => codeAt(coded.text, at, mail));
}

/** @param codeAt what stands at a place, and how many characters it takes */
function read({ text, from, to }: Decoded, codeAt: (at: number) => [means: string, length: number]): Decoded {
  const made: Decoded = { text: '', from: [], to: [] };
  const parts: string[] = [];
  for (let at = 0; at < text.length;) {
    const [means, length] = codeAt(at);
    parts.push(means);
    for (const _ of means.split('')) {
      made.from.push(from[at] ?? 0);
      made.to.push(to[at + length - 1] ?? 0);
    }
    at += length;
  }
  return { ...made, text: parts.join('') };
}

/** What stands there, and how many characters it takes. */
function codeAt(text: string, at: number, mail: boolean): [means: string, length: number] {
  const char = text.charAt(at);
  if (char === '&') return entityAt(text, at);
  if (char === '%') return bytesAt(text, at, '%');
  if (char === '=' && mail) return bytesAt(text, at, '=');
  if (char === '\\') return escapeAt(text, at);
  return [char, 1];
}

/** HTML, also without the semicolon at its end. */
function entityAt(text: string, at: number): [string, number] {
  const [code] = /^&(?:#x?[0-9a-f]{1,8}|[a-z][a-z0-9]{1,31});?/i.exec(text.slice(at, at + entityCharsMax)) ?? [];
  if (code === undefined) return ['&', 1];
  const means = decodeHTML(code);
  // Only `&copy` of `&copyright` is an entity: the rest stays.
  return means === code ? ['&', 1] : [means, code.length];
}

const utf8 = new TextDecoder('utf-8', { fatal: true });
const bytesMax = 4;

/** `%C3%A9` of addresses and forms, `=C3=A9` of mail: bytes of one character in UTF-8, else one in Latin-1. */
function bytesAt(text: string, at: number, mark: string): [string, number] {
  // As JavaScript's `escape` has it.
  const [, unit] = /^%u([0-9a-f]{4})/i.exec(text.slice(at, at + 6)) ?? [];
  if (unit !== undefined) return [charOf(Number.parseInt(unit, 16)), 6];
  // Mail breaks a long line so.
  const [softBreak] = /^=\r?\n/.exec(text.slice(at, at + 3)) ?? [];
  if (softBreak !== undefined) return ['', softBreak.length];
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

/** Python's `\U` is the only one with a capital letter. */
const numbered: [RegExp, radix: number][] = [
  [/^\\u\{([0-9a-f]{1,6})\}/i, 16],
  [/^\\U([0-9a-f]{8})/, 16],
  [/^\\u([0-9a-f]{4})/i, 16],
  [/^\\x([0-9a-f]{2})/i, 16],
  [/^\\([0-3][0-7]{2})/, 8],
];

/** JSON, JavaScript, Python, PHP, shells. */
function escapeAt(text: string, at: number): [string, number] {
  const ahead = text.slice(at, at + 10);
  for (const [form, radix] of numbered) {
    const [code, number] = form.exec(ahead) ?? [];
    if (code !== undefined && number !== undefined) return [charOf(Number.parseInt(number, radix)), code.length];
  }
  const next = text.charAt(at + 1);
  if (next === '' || next === separator) return ['\\', 1];
  return [escapes[next] ?? next, 2];
}

function charOf(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
}

/**
 * Without white space, which wraps base64 and indents pages; without the `+` that stands for a space in forms; without
 * backslashes, of which nobody knows whether they escape something; without quotation marks, which databases and shells
 * write more often than they were.
 */
export const bare = without(/[\s+\\'"]+/g, alike);

/** Only what every way to quote keeps: programs of another character set put question marks in the place of letters. */
export const letters = without(new RegExp(`[^a-z0-9${separator}]+`, 'g'), (char) =>
  char < '\u0080' ? char.toLowerCase() : '',
);

/** @param formOf the form in which a character is compared; of an ASCII letter, the small one */
function without(left: RegExp, formOf: (char: string) => string) {
  const inForm = (text: string) => text.replace(/[A-Z\u0080-\uffff]/g, formOf);
  const viewed = (decoded: Decoded): Decoded =>
    // Each ASCII letter keeps its place.
    /[\u0080-\uffff]/.test(decoded.text)
      ? read(decoded, (at) => [inForm(decoded.text.charAt(at)), 1])
      : { ...decoded, text: decoded.text.toLowerCase() };
  return {
    /** The same of a text whose characters need not be found again. */
    text: (text: string): string => inForm(text).replace(left, ''),
    view(decoded: Decoded): Decoded {
      const made: Decoded = { text: '', from: [], to: [] };
      let done = 0;
      const { text, from, to } = viewed(decoded);
      const keep = (end: number) => {
        made.text += text.slice(done, end);
        for (; done < end; done++) {
          made.from.push(from[done] ?? 0);
          made.to.push(to[done] ?? 0);
        }
      };
      for (const { 0: gap, index } of text.matchAll(left)) {
        keep(index);
        done = index + gap.length;
      }
      keep(text.length);
      return made;
    },
  };
}

/** In lower case, and in one of the forms that Unicode has for a character: `ü` as a letter and its mark. */
function alike(char: string): string {
  return char.normalize('NFKD').toLowerCase();
}
