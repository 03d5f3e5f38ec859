/** Reads a request, bounded. No sentence quotes what was read, because a password may be in it. */
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { tryOr } from '../domain/ignore-errors';
import { parseJson } from '../domain/json';
import { requestBytesMax } from '../domain/validation';
import { UsageError } from './exit-status';

/** Twice the size of a request, for the blanks of a formatted file. */
const fileBytesMax = 2 * requestBytesMax;

/** @param path `-` means standard input. @throws UsageError */
export async function readRequest(path: string, stdin: Readable): Promise<unknown> {
  return parseJson(await readText(path, stdin, fileBytesMax), nameOf(path));
}

/** A decision's JSON itself, or its file, for a shell that eats quotes. @param what what it is, for the sentence */
export function readJson(text: string, stdin: Readable, what: string): unknown {
  return /^\s*[{["]/.test(text) ? parseJson(text, what) : readRequest(text, stdin);
}

/** @param path `-` means standard input. @param bytesMax no more than this is ever read. @throws UsageError */
export async function readText(path: string, stdin: Readable, bytesMax: number, what = 'the file of a request') {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of (path === '-' ? stdin : createReadStream(path)) as AsyncIterable<Buffer | string>) {
      const bytes = Buffer.from(chunk as string);
      chunks.push(bytes);
      length += bytes.length;
      if (length > bytesMax) throw new UsageError(`${nameOf(path)} is too long: ${what} has at most ${bytesMax} bytes`);
    }
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(whyUnreadable(nameOf(path), error));
  }
  // A byte order mark in front is dropped.
  const text = tryOr(() => new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)), undefined);
  if (text === undefined) throw new UsageError(`${nameOf(path)} is not UTF-8 text`);
  if (text.trim() === '') throw new UsageError(`${nameOf(path)} is empty: a JSON object is expected`);
  return text;
}

export function nameOf(path: string): string {
  return path === '-' ? 'standard input' : path;
}

export function whyUnreadable(path: string, error: unknown): string {
  const { code = 'unknown error' } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR') return `there is no file ${path}`;
  if (code === 'EACCES' || code === 'EPERM') return `${path} may not be read`;
  return code === 'EISDIR' ? `${path} is a directory, not a file` : `${path} cannot be read (${code})`;
}
