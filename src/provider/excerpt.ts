/**
 * The part of an answer that may be shown to people: secrets blanked out, then cut. Providers echo what they refused or
 * took: whole, in part, encoded or decoded. So both are compared decoded, and any twelve consecutive characters of a
 * secret are treated as the secret. A text is cut before it is searched, and the work grows with its length.
 */
import { asItIs, decoded, separator, type Decoded } from './decoded';

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
  return cut(blankValues(blankFields(text).slice(0, searchedCharsMax), secrets));
}

function blankFields(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), (field, value: unknown) => (isSecretField(field) ? mark : value));
  } catch {
    // Not JSON, JSON that ends early, or nested too deep to print: search the text for assignments instead.
    return blankAssigned(text.slice(0, searchedCharsMax));
  }
}

/** A longer name is no field's name; more quotes and spaces around it are no assignment. */
const nameCharsMax = 64;
const aroundCharsMax = 32;

/** `password = x`, `"password": "x"`, in a text without fields. Looks a bounded way back from each sign. */
function blankAssigned(text: string): string {
  let shown = '';
  let done = 0;
  for (const { index: sign } of text.matchAll(/[:=]/g)) {
    if (sign < done) continue;
    const before = text.slice(Math.max(done, sign - nameCharsMax - aroundCharsMax), sign);
    const [, name = ''] = /([\w-]{3,64})["'\\\s]{0,32}$/.exec(before) ?? [];
    if (!isSecretField(name)) continue;
    const [around = ''] = /^[=:\s]{0,32}/.exec(text.slice(sign, sign + aroundCharsMax)) ?? [];
    const begin = sign + around.length;
    shown += text.slice(done, begin) + mark;
    done = endOfValue(text, begin);
  }
  return shown + text.slice(done);
}

/** A quoted value goes up to its quote, in JSON within JSON as deep as it began; another one up to what ends a word. */
function endOfValue(text: string, begin: number): number {
  const [, slashes = '', quote] = /^(\\{0,32})(["'])/.exec(text.slice(begin, begin + aroundCharsMax)) ?? [];
  if (quote === undefined) {
    let end = begin;
    while (end < text.length && !/[\s,;&}\]]/.test(text.charAt(end))) end += 1;
    return end;
  }
  let before = 0;
  for (let at = begin + slashes.length + 1; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === quote && (slashes === '' ? before % 2 === 0 : before <= slashes.length)) return at + 1;
    before = char === '\\' ? before + 1 : 0;
  }
  return text.length;
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
 * @param secrets 'unknown': no text is shown, except field names that are words
 */
export function withoutSecrets(answer: unknown, secrets: Secrets): unknown {
  const named = blankNamed(answer);
  if (secrets === 'unknown') return withoutTexts(named);
  const long = secrets.filter((secret) => secret.length >= wordCharsMax);
  const words = new Set(secrets.filter((secret) => secret.length < wordCharsMax));
  const texts: string[] = [];
  mapTexts(named, (text) => {
    texts.push(text);
    return text;
  });
  // Joined into one text, because each search goes through all secrets.
  const shown = blankValues(texts.map((text) => blankAssigned(withoutSeparator(text))).join(separator), long).split(
    separator,
  );
  if (shown.length !== texts.length) return mapTexts(named, () => mark);
  let next = 0;
  return mapTexts(named, (text, isName) => {
    const blanked = shown[next++] ?? mark;
    return words.has(text) && !isName ? mark : blanked;
  });
}

/** Shorter secrets are words that occur in most answers. */
const wordCharsMax = 6;

function blankNamed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(blankNamed);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).map(
    ([field, inner]) => [field, isSecretField(field) ? mark : blankNamed(inner)] as const,
  );
  return Object.fromEntries(entries);
}

function withoutTexts(value: unknown): unknown {
  return mapTexts(value, (text, isName) => (isName && /^[A-Za-z]+(_[A-Za-z]+)*$/.test(text) ? text : mark));
}

/** A copy with each text mapped. Field names are mapped, too: the keys of a list of errors may be the wrong values. */
function mapTexts(value: unknown, map: (text: string, isName: boolean) => string): unknown {
  if (typeof value === 'string') return map(value, false);
  if (Array.isArray(value)) return value.map((inner) => mapTexts(inner, map));
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).map(([field, inner]) => [map(field, true), mapTexts(inner, map)] as const);
  return Object.fromEntries(entries);
}

function blankValues(text: string, secrets: readonly string[]): string {
  if (secrets.length === 0) return text;
  const hidden = new Uint8Array(text.length);
  const forms = [...new Set(secrets.flatMap(formsOf))];
  // As it is, too: at the ends of a secret, what stands beside it may seem to be part of a code.
  const views = [
    { view: asItIs(text), sought: forms.map(withoutSeparator) },
    { view: decoded(text), sought: forms.map((form) => decoded(withoutSeparator(form)).text) },
  ];
  for (const { view, sought } of views) {
    const places = placesOfRuns(view.text);
    for (const form of new Set(sought)) {
      if (form === '') continue;
      for (const [begin, end] of placesOf(form, view, places)) {
        hidden.fill(1, view.from[begin] ?? 0, view.to[end - 1] ?? 0);
      }
    }
  }
  let shown = '';
  for (let at = 0; at < text.length; at++) {
    if (!hidden[at]) shown += text.charAt(at);
    else if (!hidden[at - 1]) shown += mark;
  }
  return shown;
}

/** Where a form of a secret stands in a decoded text, whole or in part. */
function placesOf(form: string, { text }: Decoded, places: Map<string, number[]>): [begin: number, end: number][] {
  const found: [number, number][] = [];
  const brokenOff = brokenOffPart(text, form);
  if (brokenOff > 0) found.push([text.length - brokenOff, text.length]);
  if (form.length < partCharsMin) {
    for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + 1)) found.push([at, at + form.length]);
    return found;
  }
  for (const run of placesOfRuns(form).keys()) {
    for (const at of places.get(run) ?? []) found.push([at, at + partCharsMin]);
  }
  return found;
}

/** How many characters at the text's end are the beginning of the secret: the text may end in the middle of it. */
function brokenOffPart(text: string, secret: string): number {
  for (let chars = Math.min(secret.length, partCharsMin) - 1; chars >= 4; chars--) {
    if (text.endsWith(secret.slice(0, chars))) return chars;
  }
  return 0;
}

/**
 * The positions of each run of twelve characters. The text is indexed, because it is short and a secret may be long.
 */
function placesOfRuns(text: string): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (let at = 0; at + partCharsMin <= text.length; at++) {
    const run = text.slice(at, at + partCharsMin);
    const known = places.get(run);
    if (known) known.push(at);
    else places.set(run, [at]);
  }
  return places;
}

/** How a secret may look when it is echoed, decoded as the text is: as it is, in base64 or hex, or decoded from base64. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  // Within a longer text, such as `user:password`, its bytes begin at any place of a group of three.
  const shifted = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    return text.slice(Math.ceil((before * 4) / 3), bytes.length % 3 === 0 && before === 0 ? undefined : -1);
  });
  const forms = [secret, bytes.toString('hex'), ...shifted.filter((form) => form.length >= shiftedCharsMin)];
  if (/^[A-Za-z0-9+/]{16,}={0,2}$/.test(secret)) forms.push(Buffer.from(secret, 'base64').toString());
  return forms.flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')]).filter((form) => form !== '');
}

/** Shorter pieces of base64 occur by chance. */
const shiftedCharsMin = 8;

function cut(text: string): string {
  // Not in the middle of a character of two units.
  return text.length <= excerptCharsMax
    ? text
    : `${text.slice(0, excerptCharsMax - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
