import { homedir } from 'node:os';
import { isAbsolute, join, normalize } from 'node:path';
import { z } from 'zod';
import { tryOr } from '../domain/ignore-errors';
import type { JournalAddress } from '../journal/database/dialects';
import { isLoopback } from '../domain/loopback';
import { clientSettings } from './client';
import { readerOf } from './environment';
import { given, oneOf, parsedBy } from './parsers';
import { from, fromTextOrFile, readSettings, readText, type Environment } from './settings';

export type JournalConfig = NonNullable<ReturnType<typeof readJournal>>;

export interface Place {
  address: JournalAddress;
  /** The address without its password, for messages. */
  name: string;
}

const wholePath =
  'must be a whole path, from / on: ~ is a folder of that name here, and another start has another folder';

export const journalSettings = z.object({
  place: fromTextOrFile('JOURNAL_URL', parsedBy(given, ({ text }) => placeAt(text)).optional()),
  /** The meaning of another timeline of the journal's cluster. */
  failover: from('JOURNAL_FAILOVER', oneOf('ask', 'lossless').default('ask')),
  /** A worker keeps here what it has seen of the journal. */
  witnessFile: from('JOURNAL_WITNESS_FILE', z.string().refine(isAbsolute, wholePath).optional()),
});

export const noHighWaterMark =
  'JOURNAL_WITNESS_FILE is not set: a journal that was restored from a copy of its disk may go unnoticed (docs/journal.md)';

/** For programs that use the journal only: by default this machine's own file. */
export const readJournalConfig = readerOf((env, problems) => {
  const sealing = readSettings(clientSettings.pick({ payloadKeys: true }), env, problems);
  const journal = readJournal(env, 'localhost', problems);
  return sealing && journal && { ...journal, ...sealing };
});

/** @param temporalHost if it is known: a journal in a file serves only a Temporal server on the same machine */
export function readJournal(env: Environment, temporalHost: string | undefined, problems: string[]) {
  const settings = readSettings(journalSettings, env, problems);
  const isGiven = [env['JOURNAL_URL'], env['JOURNAL_URL_FILE']].some(Boolean);
  if (!isGiven && temporalHost !== undefined && !isLoopback(temporalHost)) {
    problems.push(
      'JOURNAL_URL: is required for a Temporal server that is not on this machine, because all workers must use one journal ' +
        '(postgres://…, see docs/journal.md)',
    );
  }
  return settings && { ...settings, ...(settings.place ?? inFile(defaultFile(env))) };
}

/** No message repeats the URL: there may be a password in it. */
function placeAt(url: string): Place {
  if (url.startsWith('file:')) {
    // `file://host/path` would be on another machine.
    const path = decoded(url.slice('file:'.length).replace(/^\/\/(?=\/)/, ''));
    if (path && !path.startsWith('//') && !isAbsolute(path)) throw new Error(`the file ${wholePath}`);
    if (path && !path.startsWith('//')) return inFile(normalize(path));
  } else if (/^postgres(ql)?:\/\//.test(url) && URL.canParse(url)) {
    const { hostname, port, pathname, username, password, search, hash, searchParams } = new URL(url);
    // A sign of a password may have ended the part in which it stands: what follows looks like a path or a query then.
    const isWhole =
      [username, password, pathname].every((part) => decoded(part) !== undefined) &&
      /^\/[^/@:]+$/.test(pathname) &&
      !/[@#]/.test(search + hash);
    if (isWhole && hostname !== '') {
      // The driver reads them only when it connects; a wrong path would look like a server that does not answer.
      for (const name of ['sslrootcert', 'sslcert', 'sslkey']) {
        const path = searchParams.get(name);
        if (path !== null) readText(path, `${name}: `);
      }
      return {
        address: { postgres: withModeOfTls(url) },
        name: `postgres://${hostname}${port && `:${port}`}${pathname}`,
      };
    }
  }
  const ofSigns = !url.startsWith('postgres') ? '' : `; in a user or a password ${signs}`;
  throw new Error(`must be postgres://user@host/database or file:/path/of/a/file${ofSigns}`);
}

const signs = '# is written as %23, / as %2F, ? as %3F, @ as %40, % as %25';

/** The driver takes the weaker modes as this one, and warns at length, in each process, that another release will not. */
function withModeOfTls(url: string): string {
  return /[?&]uselibpqcompat=true/.test(url)
    ? url
    : url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, '$1verify-full');
}

/** @returns undefined where a `%` begins no valid escape */
function decoded(part: string): string | undefined {
  return tryOr(() => decodeURIComponent(part), undefined);
}

function inFile(file: string): Place {
  return { address: { file }, name: `file:${file}` };
}

/** The default file is in the user's folder for program state, so it does not depend on the working directory. */
function defaultFile({ XDG_STATE_HOME }: Environment): string {
  const folder = XDG_STATE_HOME && isAbsolute(XDG_STATE_HOME) ? XDG_STATE_HOME : join(homedir(), '.local', 'state');
  return join(folder, 'order-saga', 'journal.db');
}
