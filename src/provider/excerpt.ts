/**
 * The part of an answer that may be shown to people: secrets blanked out, then cut. Providers echo what they refused or
 * took: whole, in part, escaped or decoded. So any twelve consecutive characters of a secret are treated as the secret.
 */

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
    return blankAssigned(text);
  }
}

const assigned = /((\\*["']?)([\w-]{3,64})\2\s*[:=]\s*)("(?:[^"\\]|\\.)*"?|'[^']*'?|[^\s,;&}\]]+)/g;

/** `password = x`, in a text without fields. */
function blankAssigned(text: string): string {
  return text.replace(assigned, (whole, before: string, _quote: string, name: string) =>
    isSecretField(name) ? before + mark : whole,
  );
}

/** A separator that no text contains; see {@link withoutBetween}. */
const between = '\u0000';

/** A text that contained the separator would look like two texts. */
function withoutBetween(text: string): string {
  return text.replaceAll(between, '\ufffd');
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
  const hidden = new Uint8Array(text.length);
  const places = placesOfRuns(text);
  for (const form of new Set(secrets.flatMap(formsOf))) {
    hidden.fill(1, text.length - brokenOffPart(text, form));
    if (form.length < partCharsMin) {
      for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + 1)) hidden.fill(1, at, at + form.length);
    } else {
      for (let from = 0; from + partCharsMin <= form.length; from++) {
        for (const at of places.get(form.slice(from, from + partCharsMin)) ?? []) hidden.fill(1, at, at + partCharsMin);
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

/** How a secret may look when it is echoed: as it is, escaped as in JSON, URLs or HTML, or decoded from its base64. */
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
