/**
 * The part of an answer that may be shown to people: secrets blanked out, then cut. Providers echo what they refused or
 * took: whole, in part, encoded or decoded. So both are compared decoded, and any twelve consecutive characters of a
 * secret are treated as the secret. A text is cut before it is searched, and the work grows with its length.
 */
import { asItIs, bare, decoded, letters, separator, type Decoded } from './decoded';

/** Secret fields of a request, by the document's names. */
const secretFields = ['password', 'custom_ssh_key', 'custom_script'];

/** Names of secret fields in an answer (not documented): in lower case, without `_` and `-`. */
const secretName =
  /password|passwd|passphrase|rootpass|^pass$|^pwd$|secret|sshkey|privatekey|customscript|userdata|credential|apikey|accesstoken|^token$/;

export function isSecretField(name: string): boolean {
  return secretName.test(name.toLowerCase().replace(/[^a-z0-9]/g, ''));
}

const mark = '[redacted]';

/** Characters of an answer that a failure carries. */
export const excerptCharsMax = 500;

/** Long enough that ordinary words do not match, short enough that a useful part of a secret does. */
const partCharsMin = 12;

/** More than an excerpt needs, and little enough to search. */
const searchedCharsMax = 16_384;

/** What must not be shown. 'unknown': there are secrets that cannot be read, so no text may be shown. */
export type Secrets = readonly string[] | 'unknown';

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
  const json = withoutFields(text);
  const searched = (json ?? text).slice(0, searchedCharsMax);
  // The fields of JSON are blanked out; JSON within its texts may have some, too.
  return cut(blankOut(searched, secrets, json === undefined ? 'all' : 'quoted'));
}

/** @returns undefined for what is no JSON, ends early, or is nested too deep to print */
function withoutFields(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text), (field, value: unknown) => (isSecretField(field) ? mark : value));
  } catch {
    return undefined;
  }
}

/** A longer name is no field's name; more quotes and spaces around it are no assignment. */
const nameCharsMax = 64;
const aroundCharsMax = 32;

const endsWord = (char: string) => char === separator || /[\s,;&}\]]/.test(char);

type Range = [begin: number, end: number];

/**
 * The values in `password = x`, `"password": "x"`, `[password] => x` and `<password>x</password>`, in a text without
 * fields. Looks a bounded way back from each sign.
 */
function assignedIn(text: string, which: 'all' | 'quoted'): Range[] {
  const found: Range[] = [];
  let done = 0;
  for (const { 0: sign, index: at } of text.matchAll(/[:=>]/g)) {
    if (at < done) continue;
    const isTag = sign === '>';
    const nameEnd = isTag ? at : backOver(/["'\\\s\])]/, text, at, Math.max(done, at - aroundCharsMax));
    const nameBegin = backOver(/[\w-]/, text, nameEnd, Math.max(done, nameEnd - nameCharsMax));
    const name = text.slice(nameBegin, nameEnd);
    if (isTag && !/[<:]/.test(text.charAt(nameBegin - 1))) continue;
    if (!isSecretField(name)) continue;
    const [around = ''] = /^[=:>\s]{1,16}(?:string\(\d{1,9}\)\s)?/.exec(text.slice(at, at + aroundCharsMax)) ?? [];
    const begin = isTag ? at + 1 : at + around.length;
    const [slashes, quote] = quoteAt(text, begin);
    if (which === 'quoted' && quote === undefined) continue;
    done = isTag ? endOf('</', text, begin) : endOfValue(text, begin, slashes, quote);
    if (text.slice(begin, done).replaceAll(/[\\"']/g, '') !== mark) found.push([begin, done]);
  }
  return found;
}

/** Where such characters in front of a place begin. */
function backOver(chars: RegExp, text: string, from: number, least: number): number {
  let at = from;
  while (at > least && chars.test(text.charAt(at - 1))) at -= 1;
  return at;
}

function quoteAt(text: string, begin: number): [slashes: number, quote: string | undefined] {
  const [, slashes = '', quote] = /^(\\{0,32})(["'])/.exec(text.slice(begin, begin + aroundCharsMax)) ?? [];
  return [slashes.length, quote];
}

/** A quoted value goes up to its quote, in JSON within JSON as deep as it began; another one up to what ends a word. */
function endOfValue(text: string, begin: number, slashes: number, quote: string | undefined): number {
  if (quote === undefined) {
    let end = begin;
    while (end < text.length && !endsWord(text.charAt(end))) end += 1;
    return end;
  }
  let before = 0;
  for (let at = begin + slashes + 1; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === separator) return at;
    if (char === quote && (slashes === 0 ? before % 2 === 0 : before <= slashes)) return at + 1;
    before = char === '\\' ? before + 1 : 0;
  }
  return text.length;
}

/** In front of the next such text, or where the text ends. */
function endOf(next: string, text: string, begin: number): number {
  const ends = [next, separator].map((one) => text.indexOf(one, begin)).filter((at) => at >= 0);
  return Math.min(text.length, ...ends);
}

/** A text that contained the separator would look like two texts. */
function withoutSeparator(text: string): string {
  return text.replaceAll(separator, '\ufffd');
}

/**
 * The part of a success's answer that may be stored: every field with the name of a secret is blanked out, and every
 * secret in every text. A secret that is a word is blanked out only where it is the whole text: the answer may contain
 * the order's id.
 *
 * @param secrets 'unknown': no text is shown, and of field names those that tell what kind of answer it is
 */
export function withoutSecrets(answer: unknown, secrets: Secrets): unknown {
  const named = blankNamed(answer);
  if (secrets === 'unknown') return withoutTexts(named);
  const long = secrets.filter((secret) => secret.length >= wordCharsMax);
  const words = new Set(secrets.filter((secret) => secret.length < wordCharsMax).map(wordOf));
  const texts: string[] = [];
  mapTexts(named, (text) => {
    texts.push(withoutSeparator(text));
    return text;
  });
  // Joined into one text, because each search goes through all secrets.
  const shown = blankOut(texts.join(separator), long, 'all').split(separator);
  if (shown.length !== texts.length) return mapTexts(named, () => mark);
  let next = 0;
  return mapTexts(named, (text, isName) => {
    const blanked = shown[next++] ?? mark;
    return !isName && words.has(wordOf(text)) ? mark : blanked;
  });
}

/** Shorter secrets are words that occur in most answers. */
const wordCharsMax = 6;

/** A text that is one word, however it is encoded. */
function wordOf(text: string): string {
  return text.length > 20 * wordCharsMax ? text : decoded(text, { mail: false }).text.normalize('NFKC');
}

function blankNamed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(blankNamed);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).map(
    ([field, inner]) => [field, isSecretField(field) ? mark : blankNamed(inner)] as const,
  );
  return Object.fromEntries(entries);
}

/** Any other name may be what was sent: lists of errors have the wrong values as their keys. */
const harmlessName =
  /^(?:(?:order|cart_item|change_order|subscription|vm|vm_object|invoice)_)?ids?$|^(?:data|result|order|status|code|message|errors?|total|currency|available)$/;

function withoutTexts(value: unknown): unknown {
  let names = 0;
  return mapTexts(value, (text, isName) => {
    if (!isName) return mark;
    return harmlessName.test(text) ? text : `${mark} ${++names}`;
  });
}

/** A copy with each text mapped. Field names are mapped, too: the keys of a list of errors may be the wrong values. */
function mapTexts(value: unknown, map: (text: string, isName: boolean) => string): unknown {
  if (typeof value === 'string') return map(value, false);
  if (Array.isArray(value)) return value.map((inner) => mapTexts(inner, map));
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).map(([field, inner]) => [map(field, true), mapTexts(inner, map)] as const);
  return Object.fromEntries(entries);
}

function blankOut(text: string, secrets: readonly string[], assigned: 'all' | 'quoted'): string {
  const hidden = new Uint8Array(text.length);
  const hide = ({ from, to }: Decoded, ranges: Range[]) => {
    for (const [begin, end] of ranges) hidden.fill(1, from[begin] ?? text.length, to[end - 1] ?? text.length);
  };
  const plain = asItIs(text);
  const read = decoded(text, { mail: false });
  const mail = decoded(text, { mail: true });
  for (const view of read.text === text ? [plain] : [plain, read]) hide(view, assignedIn(view.text, assigned));

  const own = [...new Set(secrets.flatMap(withScript).map(withoutSeparator))];
  // As it is, too: at the ends of a secret, what stands beside it may seem to be part of a code.
  hide(plain, placesOf(own, plain, [text.length]));
  for (const view of mail.text === read.text ? [read] : [read, mail]) {
    const known = own.map((secret) => decoded(secret, { mail: view === mail }).text);
    const small = bare.view(view);
    hide(small, placesOf(known.map(bare.text), small, endsOf(small, text)));
    const least = letters.view(view);
    const forms = [...known, ...own.flatMap(inOtherDigits)].map(letters.text);
    hide(
      least,
      placesOf(
        forms.filter((form) => form.length >= wordCharsMax),
        least,
        [],
      ),
    );
  }
  let shown = '';
  for (let at = 0; at < text.length; at++) {
    if (!hidden[at]) shown += text.charAt(at);
    else if (!hidden[at - 1]) shown += mark;
  }
  return shown;
}

/**
 * Where any of the secrets stands in a view of the text, whole or in part.
 *
 * @param ends where the text may have been cut in the middle of a secret
 */
function placesOf(secrets: readonly string[], { text }: Decoded, ends: readonly number[]): Range[] {
  const runs = new Runs(text);
  const found: Range[] = [];
  for (const secret of new Set(secrets)) {
    if (secret === '') continue;
    for (const end of ends) {
      const chars = truncatedSecretLength(text.slice(0, end), secret);
      if (chars > 0) found.push([end - chars, text.length]);
    }
    if (secret.length < partCharsMin) {
      for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + 1)) {
        found.push([at, at + secret.length]);
      }
    } else {
      for (const places of runs.of(secret)) {
        for (const at of places) found.push([at, at + partCharsMin]);
      }
    }
  }
  return found;
}

/** How many characters at the text's end are the beginning of the secret: the text may end in the middle of it. */
function truncatedSecretLength(text: string, secret: string): number {
  for (let chars = Math.min(secret.length, partCharsMin) - 1; chars >= 4; chars--) {
    if (text.endsWith(secret.slice(0, chars))) return chars;
  }
  return 0;
}

/** Where a view ends, and where it ends without a code that was cut, such as `&#3`. */
function endsOf({ text, from }: Decoded, whole: string): number[] {
  const [unfinished] = /[&%\\=][#;&%\\={}a-z0-9]{0,16}$/i.exec(whole.slice(-17)) ?? [];
  if (unfinished === undefined) return [text.length];
  const cutAt = from.findIndex((at) => at >= whole.length - unfinished.length);
  return cutAt < 0 ? [text.length] : [text.length, cutAt];
}

/** The positions of each run of twelve characters. The text is indexed, because it is short and a secret may be long. */
class Runs {
  private readonly places = new Map<string, number[]>();
  /** Which runs there may be, by how they begin: to look at a character of a secret costs next to nothing. */
  private readonly begins = new Uint8Array(65_536);

  constructor(text: string) {
    for (let at = 0; at + partCharsMin <= text.length; at++) {
      const run = text.slice(at, at + partCharsMin);
      const known = this.places.get(run);
      if (known) known.push(at);
      else this.places.set(run, [at]);
      this.begins[beginOf(text, at)] = 1;
    }
  }

  /** Where there is any run of the secret. Each counts once: a secret of one character has thousands of the same. */
  of(secret: string): Iterable<number[]> {
    const found = new Set<number[]>();
    for (let at = 0; at + partCharsMin <= secret.length; at++) {
      if (this.begins[beginOf(secret, at)] === 0) continue;
      const places = this.places.get(secret.slice(at, at + partCharsMin));
      if (places !== undefined) found.add(places);
    }
    return found;
  }
}

function beginOf(text: string, at: number): number {
  let begin = 0;
  for (let next = at; next < at + 4; next++) begin = (begin * 33 + text.charCodeAt(next)) & 0xffff;
  return begin;
}

/** A script and a key are sent in base64, and run and quoted as what they are. */
function withScript(secret: string): string[] {
  const isBase64 = /^[A-Za-z0-9+/]{16,}={0,2}$/.test(secret);
  return isBase64 ? [secret, Buffer.from(secret, 'base64').toString()] : [secret];
}

/** A script goes there and back in base64 already: of a longer secret its beginning is enough. */
const otherDigitsOf = 4_096;

/** In hex and in base64, which may begin in the middle of a longer text, such as `user:password`. */
function inOtherDigits(secret: string): string[] {
  const bytes = Buffer.from(secret.slice(0, otherDigitsOf));
  const base64 = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    return text.slice(Math.ceil((before * 4) / 3), (before + bytes.length) % 3 === 0 ? undefined : -1);
  });
  return [bytes.toString('hex'), ...base64];
}

function cut(text: string): string {
  // Not in the middle of a character of two units.
  return text.length <= excerptCharsMax
    ? text
    : `${text.slice(0, excerptCharsMax - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
