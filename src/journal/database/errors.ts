/**
 * Errors of the journal's database. After any of them nothing is sent. Each has one sentence for a person, without
 * addresses and credentials.
 */
import { types } from 'node:util';

/** The database cannot be read or written. It says nothing of the provider. */
export class JournalUnavailable extends Error {
  override readonly name = 'JournalUnavailable';

  /** A row that may have been written although its commit was not confirmed. Nothing was sent for it. */
  readonly row: string | undefined;

  constructor(
    readonly why: string,
    { row, ...options }: ErrorOptions & { row?: string } = {},
  ) {
    super(`the journal cannot be used: ${why}`, options);
    this.row = row;
  }
}

/** A recorded value cannot be decrypted here. It is not treated as missing. */
export class JournalUnreadable extends Error {
  override readonly name = 'JournalUnreadable';

  constructor(what: string, options?: ErrorOptions) {
    super(`the journal has ${what}, but it cannot be decrypted here: a key may be missing from PAYLOAD_KEYS`, options);
  }
}

/** @returns undefined where it cannot be decrypted here */
export async function unlessUnreadable<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof JournalUnreadable) return undefined;
    throw error;
  }
}

/** The journal does not fit this release, or this namespace; the message says what to do. */
export class JournalSchemaError extends Error {
  override readonly name = 'JournalSchemaError';
}

const ours = [JournalUnavailable, JournalUnreadable, JournalSchemaError];

type Sentences = readonly (readonly [RegExp, string])[];

const credentials = 'its database refuses these credentials';
const tables = 'its tables are not those of this release: run `order-saga journal migrate`';
const file = 'its file cannot be opened';
const late = 'its database did not answer in time';
const lost = 'the connection to its database was lost';
const full = 'its disk is full';

/** The codes are SQLSTATE, SQLite's result codes, and Node's error codes. */
const byCode: Sentences = [
  [/^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENOENT)$/, 'no database answers at its address'],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'the host name of its database is unknown'],
  [/^(ECONNRESET|EPIPE|ETIMEDOUT|57P0\d|08\w{3})$/, lost],
  [/^(28\w{3})$/, credentials],
  [/^3D000$/, 'its database does not exist'],
  [/^(53100|SQLITE_FULL|ENOSPC)$/, full],
  [/^53\w{3}$/, 'its database has no free connections or memory'],
  [/^(25006|SQLITE_READONLY\w*|EROFS)$/, 'its database is read-only'],
  [/^(57014|55P03|40P01|40001|SQLITE_BUSY\w*|SQLITE_LOCKED\w*)$/, late],
  [/^(42P01|42703|42883|3F000)$/, tables],
  [/^42501$/, 'its database does not allow this user to write or ask there'],
  [/^(SQLITE_CANTOPEN\w*|EACCES|EPERM|EEXIST|EISDIR|ENOTDIR)$/, file],
  [/^(SQLITE_CORRUPT\w*|SQLITE_NOTADB)$/, 'its file is damaged, or is not a journal'],
  [/^(SQLITE_IOERR\w*|EIO|58\w{3})$/, 'its disk fails'],
  [/^CERT_HAS_EXPIRED$/, 'the certificate of its database has expired'],
  [/CERT|SSL|TLS|VERIFY/, 'the certificate of its database is not trusted'],
];

/** PostgreSQL has a code of its own for most failures, and one for all others. */
const internalError = 'XX000';
const byInternalError: Sentences = [
  // After a crash for want of room it takes connections again, and fails each of them.
  [/^could not write init file/, full],
];

/** For errors without a code, or with a code that says nothing. */
const byMessage: Sentences = [
  [/^no such (table|column)/, tables],
  [/^ConnectionFailed/, file],
  [/^SASL/, credentials],
  [/^The server does not support SSL/, 'its database does not support TLS'],
  [/timeout|timed out/i, late],
  [/connection|client|closed|ended|destroyed/i, lost],
];

/** A driver's error as a JournalUnavailable; a bug in our own code stays as it is. */
export function asUnavailable(error: unknown): unknown {
  // Of another realm, too: Jest runs tests in a realm of their own.
  if (!(error instanceof Error || types.isNativeError(error))) return error;
  const isOurs = ours.some((kind) => error instanceof kind) || /^(Type|Range)Error$/.test(error.name);
  if (isOurs) return error;
  const { code } = error as { code?: unknown };
  const sentenceFor = (sentences: Sentences, said: string) => sentences.find(([pattern]) => pattern.test(said))?.[1];
  if (typeof code === 'string' && code !== '' && code !== 'SQLITE_ERROR') {
    const known = code === internalError ? sentenceFor(byInternalError, error.message) : sentenceFor(byCode, code);
    const why = known ?? `its database failed (${code})`;
    return new JournalUnavailable(why, { cause: error });
  }
  const why = sentenceFor(byMessage, error.message) ?? (code === undefined ? undefined : 'its database failed');
  return why === undefined ? error : new JournalUnavailable(why, { cause: error });
}

/** A constraint that allows one row was violated, in either database. */
export function isUniqueViolation(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === '23505' || code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY';
}
