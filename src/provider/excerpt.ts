/**
 * The part of an answer that may be shown to people: secrets blanked out, then cut. Providers echo what they refuse, and what
 * they took, whole, in part, escaped or decoded, so any twelve characters in a row of a secret are taken for the secret.
 */

/** Of a request, whose names are the document's. */
const secretFields = ['password', 'custom_ssh_key', 'custom_script'];

/** Of an answer, whose names are not: in lower case, without `_` and `-`. */
const secretName =
  /password|passwd|passphrase|rootpass|^pass$|^pwd$|secret|sshkey|privatekey|customscript|userdata|credential|apikey|accesstoken|^token$/;

export function isSecretField(name: string): boolean {
  return secretName.test(name.toLowerCase().replace(/[^a-z0-9]/g, ''));
}

const mark = '[redacted]';

/** Characters of an answer that a failure carries. */
export const excerptCharsMax = 500;

/** Long enough that ordinary words do not match, short enough that a part of a secret which says something does. */
const tellingChars = 12;

/** More than enough to fill an excerpt, and little enough to search through. */
const searchedCharsMax = 16_384;

/** What must not be shown; 'unknown' where there are secrets that cannot be read, so that nothing that was said may be. */
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
 * @param secrets values that must not show in it, whatever field or sentence they stand in.
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
    // Not JSON, JSON that ends early, or nested too deep to print: by the looks of it, then.
    return blankAssigned(text);
  }
}

const assigned = /((\\*["']?)([\w-]{3,64})\2\s*[:=]\s*)("(?:[^"\\]|\\.)*"?|'[^']*'?|[^\s,;&}\]]+)/g;

/** `password = x`, in what has no fields. */
function blankAssigned(text: string): string {
  return text.replace(assigned, (whole, before: string, _quote: string, name: string) =>
    isSecretField(name) ? before + mark : whole,
  );
}

/** What no text has in it by then; see {@link withoutBetween}. */
const between = '\u0000';

/** A text may be anything. One that had it would not be told from two, and none of them could be shown. */
function withoutBetween(text: string): string {
  return text.replaceAll(between, '\ufffd');
}

/**
 * What may be kept of an answer of success: every field of a secret's name blanked out, and every secret in every text.
 * A secret that is a word is blanked out only where it is the whole text: the answer may hold the order's id.
 *
 * @param secrets 'unknown': no text is shown, but for names of fields that are words
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
  // Searched as one text: the search costs as much as there are secrets.
  const shown = blankValues(texts.map((text) => blankAssigned(withoutBetween(text))).join(between), long).split(
    between,
  );
  if (shown.length !== texts.length) return mapTexts(named, () => mark);
  let next = 0;
  return mapTexts(named, (text, isName) => {
    const blanked = shown[next++] ?? mark;
    return words.has(text) && !isName ? mark : blanked;
  });
}

/** Shorter ones are words that answers are full of. */
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

/** A copy with other texts, the names of fields among them: a list of errors may be by what is wrong. */
function mapTexts(value: unknown, map: (text: string, isName: boolean) => string): unknown {
  if (typeof value === 'string') return map(value, false);
  if (Array.isArray(value)) return value.map((inner) => mapTexts(inner, map));
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).map(([field, inner]) => [map(field, true), mapTexts(inner, map)] as const);
  return Object.fromEntries(entries);
}

function blankValues(text: string, secrets: readonly string[]): string {
  const hidden = new Uint8Array(text.length);
  const places = placesOfRuns(text);
  for (const form of new Set(secrets.flatMap(formsOf))) {
    hidden.fill(1, text.length - brokenOffPart(text, form));
    if (form.length < tellingChars) {
      for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + 1)) hidden.fill(1, at, at + form.length);
    } else {
      for (let from = 0; from + tellingChars <= form.length; from++) {
        for (const at of places.get(form.slice(from, from + tellingChars)) ?? []) hidden.fill(1, at, at + tellingChars);
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

/** Characters at the text's end that begin the secret, where the text ends in the middle of it. */
function brokenOffPart(text: string, secret: string): number {
  for (let chars = Math.min(secret.length, tellingChars) - 1; chars >= 4; chars--) {
    if (text.endsWith(secret.slice(0, chars))) return chars;
  }
  return 0;
}

/** Where each run of twelve characters stands: the text is short and a secret may be long, so the text is indexed. */
function placesOfRuns(text: string): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (let at = 0; at + tellingChars <= text.length; at++) {
    const run = text.slice(at, at + tellingChars);
    const known = places.get(run);
    if (known) known.push(at);
    else places.set(run, [at]);
  }
  return places;
}

/** How a secret may look when it is echoed: as it is, or in the escapes of JSON, URLs and HTML, or out of its base64. */
function formsOf(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const forms = [
    secret,
    json,
    json.replaceAll('/', '\\/'),
    json.replace(/[^\x20-\x7e]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`),
    encodeURIComponent(Buffer.from(secret).toString()),
    secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
    Buffer.from(secret).toString('base64'),
  ];
  if (/^[A-Za-z0-9+/]{16,}={0,2}$/.test(secret)) {
    const decoded = Buffer.from(secret, 'base64').toString();
    forms.push(decoded, JSON.stringify(decoded).slice(1, -1));
  }
  return forms.filter((form) => form !== '').flatMap((form) => [form, withoutBetween(form)]);
}

function cut(text: string): string {
  return text.length <= excerptCharsMax ? text : `${text.slice(0, excerptCharsMax - 1)}…`;
}
