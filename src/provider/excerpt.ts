/**
 * The part of an answer that may be shown to people. Providers echo what they refused or took: whole, in part, encoded.
 * Nothing is decoded here. A secret that stands there as it was sent is blanked out. What is left of a text is shown only
 * if it has no twelve letters or digits of a secret in a row, not all of a shorter one, and of a password no two pieces of
 * four in their order; and of that, no word with a sign of a code. Texts are compared with and without their markup, alone
 * and one after the other. The work grows with the length of the answer.
 */
import { isUtf8 } from 'node:buffer';
import { tryOr } from '../domain/ignore-errors';
import { parseLossless } from '../domain/json';
import { cutWell } from '../domain/markdown';
import { isSecretField, redactedMark as mark, secretFields } from '../domain/secrets';

/** Characters of an answer that a failure carries. */
const excerptCharsMax = 500;

/** Long enough that ordinary words do not match, short enough that a useful part of a secret does. */
const partCharsMin = 12;

/** A password may come in pieces. A longer secret has pieces of this length in common with any text. */
const pieceChars = 4;
const inPiecesCharsMax = 64;

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
  const json = () => parseLossless(text, ({ newValue }) => newValue);
  const fields = tryOr(() => JSON.stringify(blankFields(json(), secrets, 'fields')), undefined);
  // It is no JSON, ends early, or is nested too deep.
  const page = () => blankOut([{ what: 'text', text: text.slice(0, searchedCharsMax) }], secrets, 'page').join('');
  return cutWell(fields ?? page(), excerptCharsMax);
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
  const words = new Set(secrets.filter((secret) => secret.length < wordCharsMax).map(plain));
  return mapTexts(blankFields(answer, long, 'success'), (text, what) =>
    what === 'text' && words.has(plain(text)) ? mark : text,
  );
}

/** Every text and name of field is searched at once, because each search goes through all secrets. */
function blankFields(answer: unknown, secrets: readonly string[], part: Part): unknown {
  // A number of a success is an id or a price. Names that the document has are read: without its total, a quote passes
  // every guard.
  const isSearched = (what: What, text: string) =>
    part !== 'success' || (what !== 'number' && !(what === 'name' && harmlessName.test(text)));
  const texts: Found[] = [];
  let room = part === 'success' ? Infinity : searchedCharsMax;
  mapTexts(answer, (text, what) => {
    if (isSearched(what, text)) texts.push({ what, text: text.slice(0, Math.max(0, room)) });
    room -= text.length;
    return text;
  });
  const shown = blankOut(texts, secrets, part).values();
  return mapTexts(answer, (text, what) => (isSearched(what, text) ? (shown.next().value ?? mark) : text));
}

/** Any other name may be what was sent: lists of errors have the wrong values as their keys. */
const harmlessName =
  /^(?:(?:order|cart_item|change_order|subscription|vm|vm_object|invoice)_)?ids?$|^(?:data|result|order|status|code|message|errors?|total|currency|available|date_from|date_to|inapplicable_resources)$/;

function withoutTexts(value: unknown): unknown {
  let names = 0;
  return mapTexts(value, (text, what) => {
    if (what !== 'name') return what === 'text' ? mark : text;
    return harmlessName.test(text) ? text : `${mark} ${++names}`;
  });
}

type What = 'name' | 'text' | 'number';
interface Found {
  what: What;
  text: string;
}

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

/** The texts, with the mark for what must not be shown. */
function blankOut(texts: readonly Found[], secrets: readonly string[], part: Part): string[] {
  const all = [...new Set(secrets.flatMap(withScript))].filter((secret) => secret !== '');
  const lettersMin = part === 'success' ? wordCharsMax : 1;
  const forms = new Set(all.flatMap(formsOf).filter((form) => form.length >= lettersMin));
  // A secret with white space may go on beside a code.
  const piece = all.some((secret) => /\S\s+\S/.test(secret)) ? line : word;
  const isForeign = all.some((secret) => foreign.test(secret));
  const asSent = all
    .filter((secret) => secret.length >= wordCharsMax || lettersOf(secret).length < lettersMin)
    .sort((one, other) => other.length - one.length);
  const rest = texts.map(({ what, text }) => {
    return { what, text: asSent.reduce((left, secret) => left.replaceAll(secret, mark), text) };
  });
  const holders = holdersOf(forms, rest, part !== 'fields');
  const shown = rest.map(({ what, text }, index) => {
    if (holders.has(index) || tellsSecret(text, part)) return { what, text: mark };
    return {
      what,
      text: text.replace(piece, (one) => (hasCode(one) || (isForeign && foreign.test(one)) ? mark : one)),
    };
  });
  const inPieces = holdersOfPieces(forms, shown);
  return shown.map(({ text }, index) => (inPieces.has(index) ? mark : text));
}

/**
 * Signs that stand for something else in pages, addresses, programs and mail, also where it was cut. A code without
 * letters needs no sign here, such as `+` for a space or a doubled quotation mark: only letters are compared.
 */
const signs = [
  // JSON, JavaScript, Python, PHP, shells; characters of another set; what no text has.
  /[\\\ufffd\uffff]|[^\P{Cc}\t\r\n]/u,
  /%[\da-fu]|~[01]/i,
  /&(?:#|[a-z][\da-z]{1,31};|[\da-z]+$)/i,
  // Mail. Numbers have the form of a code, too, as in `plan_id=12`: one of the views is without them.
  /=(?:\r?\n|(?=[\dA-F]{2})(?!(?!25\d\d)\d+(?:[^\w=]|$)))/,
  // UTF-7, and XML's names.
  /\+(?:A[A-P]|[A-Za-z\d+/]{3,64}-)|_x[\dA-Fa-f]{4}_/,
];

/** Letters of East Asian width and of mathematics are plain ones, and accents stand apart. */
const plain = (text: string) => text.normalize('NFKD');

const hasCode = (text: string) => signs.some((sign) => sign.test(plain(text)));

/** Hidden together with a sign; mail breaks lines anywhere. */
const word = /(?:\S|(?<==)\r?\n)+/g;
const line = /(?:[^\n]|(?<==\r?)\n)+/g;

/** Another character set may have made anything of a secret with such characters. */
const foreign = /[^\0-\x7f]/;

/** A name and its sign, as in `password = x`, `"password": "x"`, `[password] => x` and `<password>x`. */
const assigned = /(?<![\w-])([\w-]{1,64})(["'\])\s]{0,16}[:=>][:=>\s]{0,16})(?=(["']?))/g;

/** It names a secret with its value, which the provider may have made itself. */
function tellsSecret(text: string, part: Part): boolean {
  // `password: too short` of a failure is a sentence: JSON within its JSON has quotation marks.
  const isTold = ([, name = '', sign = '', quote = '']: readonly string[]) =>
    isSecretField(name) && (part !== 'fields' || /["']/.test(sign + quote));
  return (
    [...text.matchAll(assigned)].some(isTold) ||
    [...text.matchAll(word)].some(([one]) => isSecretField(one) && hasCode(one))
  );
}

/** Tags, also one that was cut, and the names of fields in JSON that was. */
const markup = /<[^<>]*(?:>|$)|"[^"\n]{0,64}"\s*:/g;

/** Only what every way to quote keeps, in lower case: with what may be markup, a number or a code of mail, and without. */
function viewsOf(text: string): string[] {
  const all = plain(text);
  return [...new Set([all, all.replace(/=[\da-f]{1,2}/gi, ''), all.replace(markup, '')].map(lettersOf))];
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
  return [secret, plain(secret), bytes.toString('hex'), ...base64].map(lettersOf);
}

/** Letters that are compared, and the numbers of the texts that they are of. */
interface View {
  letters: string;
  of: readonly number[];
}

/** The texts one by one, and read in one go: names, texts, texts and numbers, all of them. */
function viewsOfAll(texts: readonly Found[]): { each: View[]; views: View[] } {
  const letters = texts.map(({ text }) => viewsOf(text));
  const each = letters.flatMap((views, index) => views.map((view) => ({ letters: view, of: [index] })));
  const kinds: What[][] = [['name'], ['text'], ['text', 'number'], ['name', 'text', 'number']];
  const joined = kinds.map((kind) => {
    const of = [...texts.keys()].filter((index) => kind.includes(texts[index]?.what ?? 'text'));
    return { letters: of.map((index) => letters[index]?.at(-1) ?? '').join(''), of };
  });
  const isNew = ({ letters, of }: View, at: number) =>
    of.length > 1 && joined.findIndex((other) => other.letters === letters) === at;
  return { each, views: [...each, ...joined.filter(isNew)] };
}

/** Of texts that hold a form together, those that have a part of it. */
function partsOf(form: string, { of }: View, texts: readonly Found[]): readonly number[] {
  const isPart = (letters: string) => letters.length > 1 && (form.includes(letters) || piecesIn(letters).some(isPiece));
  const isPiece = (piece: string) => form.includes(piece);
  return of.length === 1 ? of : of.filter((index) => viewsOf(texts[index]?.text ?? '').some(isPart));
}

/**
 * Which texts, by their numbers, have any of the forms in their letters, whole or in part. The texts are indexed,
 * because they are short and a secret may be long.
 *
 * @param endsEarly a text may have been cut in the middle of a secret
 */
function holdersOf(forms: Iterable<string>, texts: readonly Found[], endsEarly: boolean): Set<number> {
  const { each, views } = viewsOfAll(texts);
  const runs = new Set<string>();
  /** Which runs there may be, by how they begin: to look at a character of a secret costs next to nothing. */
  const begins = new Uint8Array(65_536);
  for (const { letters } of views) {
    for (let at = 0; at + partCharsMin <= letters.length; at++) {
      runs.add(letters.slice(at, at + partCharsMin));
      begins[beginOf(letters, at)] = 1;
    }
  }
  const holders = new Set<number>();
  const hold = (form: string, among: readonly View[], isIn: (letters: string) => boolean) => {
    for (const view of among)
      if (isIn(view.letters)) for (const index of partsOf(form, view, texts)) holders.add(index);
  };
  for (const form of forms) {
    if (form.length < partCharsMin)
      hold(form, form.length < wordCharsMax ? each : views, (letters) => letters.includes(form));
    if (endsEarly)
      hold(form, each, (letters) => [4, 5, 6, 7, 8, 9, 10, 11].some((chars) => letters.endsWith(form.slice(0, chars))));
    for (let at = 0; at + partCharsMin <= form.length; at++) {
      const run = begins[beginOf(form, at)] === 0 ? '' : form.slice(at, at + partCharsMin);
      if (runs.delete(run)) hold(form, views, (letters) => letters.includes(run));
    }
  }
  return holders;
}

function piecesIn(letters: string): string[] {
  return Array.from({ length: Math.max(0, letters.length - pieceChars + 1) }, (_, at) =>
    letters.slice(at, at + pieceChars),
  );
}

/** Which texts have two pieces of a form, one after the other in its order. */
function holdersOfPieces(forms: Iterable<string>, texts: readonly Found[]): Set<number> {
  const places = new Map<string, [form: string, at: number][]>();
  const begins = new Uint8Array(65_536);
  for (const form of forms) {
    if (form.length > inPiecesCharsMax) continue;
    for (const [at, piece] of piecesIn(form).entries()) {
      places.set(piece, [...(places.get(piece) ?? []), [form, at]]);
      begins[beginOf(form, at)] = 1;
    }
  }
  const holders = new Set<number>();
  for (const view of viewsOfAll(texts).views) {
    const { letters } = view;
    const placesAt = (at: number) =>
      at < 0 || begins[beginOf(letters, at)] === 0 ? [] : (places.get(letters.slice(at, at + pieceChars)) ?? []);
    const found = new Set<string>();
    /** Of the pieces that the text is past, the end of the one that ends first in its form. */
    const ends = new Map<string, number>();
    for (let at = 0; at + pieceChars <= letters.length; at++) {
      for (const [form, from] of placesAt(at - pieceChars))
        ends.set(form, Math.min(ends.get(form) ?? Infinity, from + pieceChars));
      for (const [form, from] of placesAt(at)) if (from >= (ends.get(form) ?? Infinity)) found.add(form);
    }
    for (const form of found) for (const index of partsOf(form, view, texts)) holders.add(index);
  }
  return holders;
}

function beginOf(letters: string, at: number): number {
  let begin = 0;
  for (let next = at; next < at + 4; next++) begin = (begin * 33 + letters.charCodeAt(next)) & 0xffff;
  return begin;
}
