/**
 * What goes wrong between us and the journal's database. Whatever it is, nothing is sent: so each is one sentence for a
 * person, with neither an address nor a credential in it.
 */

/** The database cannot be asked, or cannot write. It says nothing of the provider. */
export class JournalUnavailable extends Error {
  override readonly name = 'JournalUnavailable';

  /** A row that may have been written all the same, though nobody was told so. Nothing was sent for it. */
  readonly row: string | undefined;

  constructor(
    readonly why: string,
    { row, ...options }: ErrorOptions & { row?: string } = {},
  ) {
    super(`the journal cannot be used: ${why}`, options);
    this.row = row;
  }
}

/** What is recorded cannot be decrypted here. It is there, and it is not taken for absent. */
export class JournalUnreadable extends Error {
  override readonly name = 'JournalUnreadable';

  constructor(what: string, options?: ErrorOptions) {
    super(`the journal has ${what}, and it cannot be decrypted here: is a key missing from PAYLOAD_KEYS?`, options);
  }
}

/** The journal is not what this release needs; the message says what to run. */
export class JournalSchemaError extends Error {
  override readonly name = 'JournalSchemaError';
}

/** By SQLSTATE, by SQLite's result code, or by Node's error code. */
const sentences: readonly (readonly [RegExp, string])[] = [
  [/^(ECONNREFUSED|ENOENT)$/, 'no database answers there'],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'the host name of its database is unknown'],
  [/^(ECONNRESET|EPIPE|ETIMEDOUT|57P0\d|08\w{3})$/, 'the connection to its database was lost'],
  [/^(28\w{3})$/, 'its database refuses these credentials'],
  [/^3D000$/, 'there is no such database'],
  [/^(53100|SQLITE_FULL|ENOSPC)$/, 'its disk is full'],
  [/^53\w{3}$/, 'its database has no room for more connections or memory'],
  [/^(25006|SQLITE_READONLY\w*|EROFS)$/, 'its database can only be read'],
  [/^(57014|55P03|40P01|40001|SQLITE_BUSY\w*|SQLITE_LOCKED\w*)$/, 'its database did not answer in time'],
  [/^(42P01|42703|3F000)$/, 'its tables are not those of this release: run `order-saga journal migrate`'],
  [/^42501$/, 'its database does not allow this user to write there'],
  [/^SQLITE_CANTOPEN\w*$/, 'its file cannot be opened'],
  [/^(SQLITE_CORRUPT\w*|SQLITE_NOTADB)$/, 'its file is damaged, or is not a journal'],
  [/^(SQLITE_IOERR\w*|EIO|58\w{3})$/, 'its disk fails'],
  [/CERT|SSL|TLS/, 'the certificate of its database is not trusted'],
];

/** Whatever a driver throws, as a sentence; a mistake in our own code stays what it is. */
export function asUnavailable(error: unknown): unknown {
  if (error instanceof JournalUnavailable || error instanceof JournalUnreadable) return error;
  if (!(error instanceof Error) || error instanceof TypeError || error instanceof RangeError) return error;
  const { code } = error as { code?: unknown };
  if (typeof code !== 'string') {
    // The PostgreSQL driver's own complaints have no code.
    const timeout = /timeout|timed out/i.test(error.message);
    const why = timeout ? 'its database did not answer in time' : 'the connection to its database was lost';
    return /connection|client|timeout|timed out|closed|ended/i.test(error.message)
      ? new JournalUnavailable(why, { cause: error })
      : error;
  }
  const [, sentence] = sentences.find(([pattern]) => pattern.test(code)) ?? [];
  return new JournalUnavailable(sentence ?? `its database failed (${code})`, { cause: error });
}

/** Of the constraint that a pivot is meant at most once, in either database. */
export function isUniqueViolation(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === '23505' || code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY';
}
