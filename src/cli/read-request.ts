/**
 * Reads a request from a file or from standard input: bounded, and with one sentence for each error. No sentence quotes
 * what was read, because a password may be in it.
 */
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { requestBytesMax } from '../domain/validation';
import { UsageError } from './exit-status';

/** Twice the size of a request, for the blanks of a formatted file. No more than this is ever read. */
const fileBytesMax = 2 * requestBytesMax;

/**
 * @param path `-` means standard input
 * @throws UsageError
 */
export async function readRequest(path: string, stdin: Readable): Promise<unknown> {
  const name = path === '-' ? 'standard input' : path;
  return parseJson(await readText(path, stdin, fileBytesMax), name);
}

/**
 * @param path `-` means standard input
 * @param bytesMax no more than this is ever read
 * @throws UsageError
 */
export async function readText(path: string, stdin: Readable, bytesMax: number, what = 'a request'): Promise<string> {
  const limit: Limit = { bytesMax, what };
  const name = path === '-' ? 'standard input' : path;
  const bytes = path === '-' ? await readBounded(stdin, name, limit) : await readFile(path, limit);
  return asText(bytes, name);
}

interface Limit {
  bytesMax: number;
  what: string;
}

async function readFile(path: string, limit: Limit): Promise<Buffer> {
  const file = await open(path).catch((error: unknown) => {
    throw new UsageError(whyUnreadable(path, error));
  });
  try {
    const stats = await file.stat();
    if (stats.isDirectory()) throw new UsageError(`${path} is a directory, not a file`);
    if (stats.isFile() && stats.size > limit.bytesMax) throw tooLong(path, `${stats.size} bytes long`, limit);
    // Only a plain file has a size; a pipe has none.
    return await readBounded(file.createReadStream({ autoClose: false }), path, limit);
  } finally {
    await file.close();
  }
}

async function readBounded(stream: Readable, name: string, limit: Limit): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer | string>) {
      const bytes = Buffer.from(chunk as string);
      chunks.push(bytes);
      length += bytes.length;
      // Leaving the loop ends the stream: the rest is not read.
      if (length > limit.bytesMax) throw tooLong(name, 'longer than that', limit);
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(whyUnreadable(name, error));
  }
  return Buffer.concat(chunks);
}

function tooLong(name: string, howLong: string, { what }: Limit): UsageError {
  return new UsageError(`${name} is too long: ${what} has at most ${requestBytesMax} bytes, and it is ${howLong}`);
}

function whyUnreadable(path: string, error: unknown): string {
  const { code = 'unknown error' } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'ENOENT':
      return `there is no file ${path}`;
    case 'EACCES':
    case 'EPERM':
      return `${path} may not be read`;
    case 'EISDIR':
      return `${path} is a directory, not a file`;
    default:
      return `${path} cannot be read (${code})`;
  }
}

function asText(bytes: Buffer, name: string): string {
  let text: string;
  try {
    // A byte order mark in front is dropped.
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError(`${name} is not UTF-8 text`);
  }
  if (text.trim() === '') throw new UsageError(`${name} is empty: a JSON object is expected`);
  return text;
}

/**
 * @param name what is parsed, for the sentence
 * @throws UsageError
 */
export function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The engine's message may quote the text around the error; only the position is taken from it.
    const position = /at position (\d+)/.exec((error as Error).message)?.[1];
    throw new UsageError(`${name} is not JSON${position === undefined ? '' : placeOf(text, Number(position))}`);
  }
}

function placeOf(text: string, position: number): string {
  const before = text.slice(0, position).split('\n');
  return `: line ${before.length}, column ${String((before.at(-1)?.length ?? 0) + 1)}`;
}
