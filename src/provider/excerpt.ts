/**
 * The part of an answer that may be shown to people. Providers echo what they refused or took: whole, in part, encoded.
 * Nothing is decoded here. A word with a sign of a code is not shown, and what is left stands for itself: its letters
 * and digits are compared with those of each secret, and any twelve in a row are treated as the secret. The work grows
 * with the length of the answer.
 */
import { isUtf8 } from 'node:buffer';
import { isSecretField, redactedMark as mark, secretFields } from '../domain/secrets';

/** Characters of an answer that a failure carries. */
const excerptCharsMax = 500;

/** Long enough that ordinary words do not match, short enough that a useful part of a secret does. */
const partCharsMin = 12;

/** Shorter secrets are words that occur in most answers. */
const wordCharsMax = 6;

/** More than an excerpt needs, and little enough to search. */
const searchedCharsMax = 16_384;

/** Must not be shown. 'unknown': there are secrets that cannot be read, so no text may be shown. */
export type Secrets = readonly string[] | 'unknown';

/** The shown part of an answer: the texts of a success, the texts of a failure's JSON, a failure that is no JSON. */
type Part = 'success' | 'fields' | 'page';

/** The values of secret fields in a request, at any depth. */
export function secretsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(secretsIn);
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([field, inner]) =>
    secretFields.includes(field) && typeof inner === 'string' ? [inner] : secretsIn(inner),
  );
}

/**
 * @param text the answer's body; it may end in the middle.
 * @param secrets values that must not be shown, in whatever field or sentence they are.
 * @returns at most {@link excerptCharsMax} characters; undefined for an empty body.
 */
export function excerptOf(text: string, secrets: readonly string[]): string | undefined {
  if (text.trim() === '') return undefined;
  let shown: string;
  try {
    shown = JSON.stringify(blankFields(JSON.parse(text), secrets, 'fields'));
  } catch {
    // It is no JSON, ends early, or is nested too deep to print.
    shown = blankOut([text.slice(0, searchedCharsMax)], secrets, 'page').join('');
  }
  // Not in the middle of a character of two units.
  return shown.length <= excerptCharsMax
    ? shown
    : `${shown.slice(0, excerptCharsMax - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/**
 * The part of a success's answer that may be stored: every field with the name of a secret is blanked out, and every
 * secret in every text. A secret that is a word is blanked out only where it is the whole text: the answer may contain
 * the order's id.
 *
 * @param secrets 'unknown': no text is shown, and of field names those that show what kind of answer it is
 */
export function withoutSecrets(answer: unknown, secrets: Secrets): unknown {
  if (secrets === 'unknown') return withoutTexts(answer);
  const long = secrets.filter((secret) => secret.length >= wordCharsMax);
  const words = new Set(secrets.filter((secret) => secret.length < wordCharsMax).map(narrow));
  return mapTexts(blankFields(answer, long, 'success'), (text, what) =>
    what === 'text' && words.has(narrow(text)) ? mark : text,
  );
}

/** Every text and name of field is searched at once, because each search goes through all secrets. */
function blankFields(answer: unknown, secrets: readonly string[], part: Part): unknown {
  // A number of a success is an id or a price.
  const isSearched = (what: What) => what !== 'number' || part !== 'success';
  const texts: string[] = [];
  let room = part === 'success' ? Infinity : searchedCharsMax;
  mapTexts(answer, (text, what) => {
    if (isSearched(what)) texts.push(text.slice(0, Math.max(0, room)));
    room -= text.length;
    return text;
  });
  const shown = blankOut(texts, secrets, part).values();
  return mapTexts(answer, (text, what) => (isSearched(what) ? (shown.next().value ?? mark) : text));
}

/** Any other name may be what was sent: lists of errors have the wrong values as their keys. */
const harmlessName =
  /^(?:(?:order|cart_item|change_order|subscription|vm|vm_object|invoice)_)?ids?$|^(?:data|result|order|status|code|message|errors?|total|currency|available)$/;

function withoutTexts(value: unknown): unknown {
  let names = 0;
  return mapTexts(value, (text, what) => {
    if (what !== 'name') return what === 'text' ? mark : text;
    return harmlessName.test(text) ? text : `${mark} ${++names}`;
  });
}

type What = 'name' | 'text' | 'number';

/**
 * A copy with each text mapped, and each field that has the name of a secret blanked out. Field names are mapped, too:
 * the keys of a list of errors may be the wrong values.
 */
function mapTexts(value: unknown, map: (text: string, what: What) => string): unknown {
  if (typeof value === 'string') return map(value, 'text');
  if (typeof value === 'number') {
    const shown = map(String(value), 'number');
    return shown === String(value) ? value : shown;
  }
  if (Array.isArray(value)) return value.map((inner) => mapTexts(inner, map));
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).map(
    ([field, inner]) => [map(field, 'name'), isSecretField(field) ? mark : mapTexts(inner, map)] as const,
  );
  return Object.fromEntries(entries);
}

/** Between two texts that are searched as one. */
const separator = '\uffff';

/** The texts, with a mark for what must not be shown. */
function blankOut(texts: readonly string[], secrets: readonly string[], part: Part): string[] {
  const whole = texts.map((text) => text.replaceAll(separator, '\ufffd')).join(separator);
  const hidden = new Uint8Array(whole.length);
  const hide = (ranges: Iterable<Range>) => {
    for (const [begin, end] of ranges) hidden.fill(1, begin, end);
  };
  const all = [...new Set(secrets.flatMap(withScript))].filter((secret) => secret !== '');
  const lettersMin = part === 'success' ? wordCharsMax : 1;
  const mostlySigns = all.filter((secret) => lettersOf(secret).length < lettersMin);
  const forms = new Set(all.flatMap(formsOf).filter((form) => form.length >= lettersMin));
  const hasSpaces = all.some((secret) => /\S\s+\S/.test(secret));

  hide(codesIn(whole, hasSpaces ? line : word, mostlySigns));
  hide(assignedIn(whole, part));
  for (const { letters, from } of viewsOf(whole)) {
    const places = placesOf(forms, letters, part !== 'fields');
    hide(places.map(([begin, end]) => [from[begin] ?? 0, (from[end - 1] ?? 0) + 1]));
  }
  if (all.some((secret) => foreign.test(secret))) hide(foreignIn(whole));

  let shown = '';
  let at = 0;
  for (const char of whole) {
    if (!hidden[at]) shown += char;
    else if (!hidden[at - 1]) shown += mark;
    at += char.length;
  }
  return shown.split(separator);
}

type Range = readonly [begin: number, end: number];

/**
 * Signs that stand for something else in pages, addresses, programs and mail, also where it was cut. A code without
 * letters needs no sign here, such as `+` for a space or a doubled quotation mark: only letters are compared.
 */
const signs = [
  // JSON, JavaScript, Python, PHP, shells; characters of another set; what no text has.
  /[\\\ufffd]|[^\P{Cc}\t\r\n]/u,
  /%[\da-fu]|~[01]/i,
  /&(?:#|[a-z][\da-z]{1,31};|[\da-z]+$)/i,
  // Mail. Numbers have the form of a code, too, as in `plan_id=12`: one of the views is without them.
  /=(?:\r?\n|(?=[\dA-F]{2})(?!(?!25\d\d)\d+(?:[^\w=]|$)))/,
  // UTF-7, and XML's names.
  /\+(?:A[A-P]|[A-Za-z\d+/]{3,64}-)|_x[\dA-Fa-f]{4}_/,
];

/** Hidden together with a sign; mail breaks lines anywhere. A secret with white space may go on beside it. */
const word = /(?:[^\s\uffff]|(?<==)\r?\n)+/g;
const line = /(?:[^\n\uffff]|(?<==\r?)\n)+/g;

/** Words or lines with a sign of a code, or with a secret that has too few letters to be found by them. */
function* codesIn(text: string, piece: RegExp, mostlySigns: readonly string[]): Iterable<Range> {
  let done = 0;
  for (const { 0: one, index } of text.matchAll(piece)) {
    if (index < done) continue;
    const plain = narrow(one);
    if (!signs.some((sign) => sign.test(plain)) && !mostlySigns.some((secret) => one.includes(secret))) continue;
    done = isSecretField(one) ? endOfLine(text, index) : index + one.length;
    yield [index, done];
  }
}

/** A name and its sign, as in `password = x`, `"password": "x"`, `[password] => x` and `<password>x`. */
const assigned = /(?<![\w-])([\w-]{1,64})(["'\])\s]{0,16}[:=>][:=>\s]{0,16})(?=(["']?))/g;

/** The value of a secret's name, which the provider may have made itself: up to the end of the line. */
function* assignedIn(text: string, part: Part): Iterable<Range> {
  let done = 0;
  for (const { 0: start, 1: name = '', 2: sign = '', 3: quote = '', index } of text.matchAll(assigned)) {
    if (index < done || !isSecretField(name)) continue;
    // `password: too short` of a failure is a sentence: JSON within its JSON has quotation marks.
    if (part === 'fields' && !/["']/.test(sign + quote)) continue;
    done = endOfLine(text, index + start.length);
    yield [index + start.length, done];
  }
}

function endOfLine(text: string, from: number): number {
  const chars = text.slice(from).search(/[\n\uffff]/);
  return chars < 0 ? text.length : from + chars;
}

/** Another character set may have made anything of a secret with such characters. */
const foreign = /[^\0-\x7f]/;

function* foreignIn(text: string): Iterable<Range> {
  for (const { 0: one, index } of text.matchAll(word)) {
    if (foreign.test(one)) yield [index, index + one.length];
  }
}

/** Letters of East Asian width and of mathematics as the same plain ones; each place stays. */
function narrow(text: string): string {
  return text.replace(/[\ufe50-\uff5e\u{1d400}-\u{1d7ff}]/gu, (char) =>
    char.normalize('NFKC').slice(0, 1).padEnd(char.length),
  );
}

/**
 * Only what every way to quote keeps, in lower case, and where each letter stands in the text: with what may be a number
 * or a code of mail, and without.
 */
function viewsOf(text: string) {
  const plain = narrow(text);
  return [...new Set([plain, plain.replace(/=[\da-f]{1,2}/gi, (code) => ' '.repeat(code.length))])].map((one) => {
    const from: number[] = [];
    let letters = '';
    for (const { 0: run, index } of one.matchAll(/[A-Za-z\d\uffff]+/g)) {
      letters += run;
      for (let at = 0; at < run.length; at++) from.push(index + at);
    }
    return { letters: letters.toLowerCase(), from };
  });
}

function lettersOf(text: string): string {
  return text.replace(/[^A-Za-z\d]+/g, '').toLowerCase();
}

/** A script and a key are sent in base64, and run and quoted as what they are. */
function withScript(secret: string): string[] {
  if (!/^[A-Za-z0-9+/]{16,}={0,2}$/.test(secret)) return [secret];
  const bytes = Buffer.from(secret, 'base64');
  return isUtf8(bytes) ? [secret, bytes.toString()] : [secret];
}

/** A script goes there and back in base64 already: of a longer secret its beginning is enough. */
const otherDigitsOf = 4_096;

/** How a secret may look in letters: with and without its accents, in hex, in base64 also in the middle of a text. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret.slice(0, otherDigitsOf));
  const base64 = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    return text.slice(Math.ceil((before * 4) / 3), (before + bytes.length) % 3 === 0 ? undefined : -1);
  });
  return [secret, secret.normalize('NFKD'), bytes.toString('hex'), ...base64].map(lettersOf);
}

/**
 * The places of any of the forms in the text, whole or in part. The text is indexed, because it is short and a secret
 * may be long.
 *
 * @param endsEarly the text may have been cut in the middle of a secret
 */
function placesOf(forms: Iterable<string>, text: string, endsEarly: boolean): Range[] {
  const runs = new Map<string, number[]>();
  /** Which runs there may be, by how they begin: to look at a character of a secret costs next to nothing. */
  const begins = new Uint8Array(65_536);
  for (let at = 0; at + partCharsMin <= text.length; at++) {
    const run = text.slice(at, at + partCharsMin);
    const known = runs.get(run);
    if (known) known.push(at);
    else runs.set(run, [at]);
    begins[beginOf(text, at)] = 1;
  }
  const found: Range[] = [];
  for (const form of forms) {
    const cut = endsEarly ? cutLength(text, form) : 0;
    if (cut > 0) found.push([text.length - cut, text.length]);
    if (form.length < partCharsMin) {
      for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + 1)) found.push([at, at + form.length]);
    }
    for (let at = 0; at + partCharsMin <= form.length; at++) {
      if (begins[beginOf(form, at)] === 0) continue;
      const run = form.slice(at, at + partCharsMin);
      for (const begin of runs.get(run) ?? []) found.push([begin, begin + partCharsMin]);
      // Each counts once: a secret of one character has thousands of the same.
      runs.delete(run);
    }
  }
  return found;
}

/** How many characters at the text's end are the beginning of the secret. */
function cutLength(text: string, secret: string): number {
  for (let chars = Math.min(secret.length, partCharsMin) - 1; chars >= 4; chars--) {
    if (text.endsWith(secret.slice(0, chars))) return chars;
  }
  return 0;
}

function beginOf(text: string, at: number): number {
  let begin = 0;
  for (let next = at; next < at + 4; next++) begin = (begin * 33 + text.charCodeAt(next)) & 0xffff;
  return begin;
}
