/**
 * Looks for secrets in bytes, in every form in which somebody may have written them down: as they are, or in the
 * escapes of JSON, URLs, base64, hexadecimal and UTF-16, and one of these inside another (a key in base64 inside a JSON
 * payload that an export shows in base64).
 *
 * A secret may be cut, by a limit or by the page of a database, so its two halves are looked for as well.
 */

export interface Canary {
  name: string;
  text: string | Buffer;
  /** Parts of it that say enough on their own. */
  parts: readonly string[];
}

export interface Sighting {
  canary: string;
  form: string;
  /** The text there, so that one can find out who wrote it. */
  around: string;
}

type Writing = readonly [name: string, write: (bytes: Buffer) => (Buffer | string)[]];

const asText = (bytes: Buffer) => bytes.toString('utf8');
const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
const inAscii = (text: string) =>
  text.replace(/[^\x20-\x7e]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

const writings: readonly Writing[] = [
  ['plain', (bytes) => [bytes]],
  ['base64', (bytes) => alignments(bytes, 'base64')],
  ['base64url', (bytes) => alignments(bytes, 'base64url')],
  ['hex', (bytes) => [bytes.toString('hex'), bytes.toString('hex').toUpperCase()]],
  [
    'url',
    (bytes) => {
      const url = encodeURIComponent(asText(bytes));
      return [url, url.replaceAll('%20', '+'), url.replace(/%../g, (escape) => escape.toLowerCase())];
    },
  ],
  [
    'json',
    (bytes) => {
      const json = inJson(asText(bytes));
      return [json, inAscii(json), json.replaceAll('/', '\\/')];
    },
  ],
  [
    'utf-16',
    (bytes) => {
      const little = Buffer.from(asText(bytes), 'utf16le');
      return [little, Buffer.from(little).swap16()];
    },
  ],
];

/** These strings stand in the base64 of anything that holds these bytes, wherever in it they begin. */
function alignments(bytes: Buffer, encoding: 'base64' | 'base64url'): string[] {
  return [0, 1, 2].map((before) =>
    Buffer.concat([Buffer.alloc(before), bytes])
      .toString(encoding)
      .slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6)),
  );
}

interface Needle extends Omit<Sighting, 'around'> {
  bytes: Buffer;
}

const aroundBytes = 120;

/** Anything shorter stands in a large file by chance. */
const needleBytesMin = 8;

export class Search {
  private readonly needles: readonly Needle[];
  private readonly byStart = new Map<number, Needle[]>();
  /** True if any needle begins with these three bytes: most places in a file are passed by with one look. */
  private readonly starts = new Uint8Array(1 << 24);

  constructor(readonly canaries: readonly Canary[]) {
    this.needles = canaries.flatMap(needlesOf);
    for (const needle of this.needles) {
      const start = needle.bytes.readUIntBE(0, 3);
      this.starts[start] = 1;
      this.byStart.set(start, [...(this.byStart.get(start) ?? []), needle]);
    }
  }

  /** Every canary in every form in which it is there, once each. */
  in(bytes: Buffer): Sighting[] {
    const found = new Map<Needle, number>();
    for (let at = 0; at + needleBytesMin <= bytes.length; at += 1) {
      const start = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
      if (this.starts[start] === 0) continue;
      for (const needle of this.byStart.get(start) ?? []) {
        if (!found.has(needle) && needle.bytes.equals(bytes.subarray(at, at + needle.bytes.length)))
          found.set(needle, at);
      }
    }
    return [...found].map(([{ canary, form, bytes: needle }, at]) => ({
      canary,
      form,
      around: bytes.toString('latin1', Math.max(0, at - aroundBytes), at + needle.length + aroundBytes),
    }));
  }
}

function needlesOf({ name, text, parts }: Canary): Needle[] {
  const needles = new Map<string, Needle>();
  for (const piece of [text, ...parts]) {
    const bytes = Buffer.from(piece as string);
    for (const [inner, once] of formsOf(bytes)) {
      for (const [outer, twice] of formsOf(once)) {
        if (twice.length < needleBytesMin) continue;
        const form = [outer, inner].filter((writing) => writing !== 'plain').join(' of ') || 'plain';
        const key = twice.toString('latin1');
        if (!needles.has(key)) needles.set(key, { canary: name, form, bytes: twice });
      }
    }
  }
  return [...needles.values()];
}

function formsOf(bytes: Buffer): [string, Buffer][] {
  return writings.flatMap(([name, write]) =>
    write(bytes).map((written): [string, Buffer] => [name, Buffer.from(written as string)]),
  );
}
