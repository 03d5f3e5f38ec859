import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { orElse } from '../domain/none-if';
import type { JournalAddress } from '../journal/dialects';
import { isLoopback } from './checks';
import { given, oneOf, parsedBy, payloadKeys } from './kinds';
import { from, fromTextOrFile, readSettings, readText, SettingsError, type Environment } from './settings';

export type JournalConfig = NonNullable<ReturnType<typeof readJournal>>;

export interface Place {
  address: JournalAddress;
  /** The address without its password, for messages. */
  name: string;
}

export const journalSettings = z.object({
  place: fromTextOrFile('JOURNAL_URL', parsedBy(given, ({ text }) => placeAt(text)).optional()),
  /** The meaning of another timeline of the journal's cluster. */
  failover: from('JOURNAL_FAILOVER', oneOf('ask', 'lossless').default('ask')),
  /** A worker keeps here what it has seen of the journal. */
  witnessFile: from('JOURNAL_WITNESS_FILE', z.string().optional()),
});

/** For programs that use the journal only: by default this machine's own file. @throws SettingsError */
export function readJournalConfig(env: Environment = process.env) {
  const problems: string[] = [];
  const keys = z.object({ payloadKeys: fromTextOrFile('PAYLOAD_KEYS', payloadKeys.optional()) });
  const sealing = readSettings(keys, env, problems);
  const journal = readJournal(env, 'localhost', problems);
  if (sealing === undefined || journal === undefined) throw new SettingsError(problems);
  return Object.freeze({ ...journal, ...sealing });
}

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
    if (path && !path.startsWith('//')) return inFile(resolve(path));
  } else if (/^postgres(ql)?:\/\//.test(url) && URL.canParse(url)) {
    const { hostname, port, pathname, username, password, searchParams } = new URL(url);
    const isWhole = [username, password, pathname].every((part) => decoded(part) !== undefined);
    if (isWhole && hostname !== '' && pathname.length > 1) {
      // The driver reads them only when it connects; a wrong path would look like a server that does not answer.
      for (const name of ['sslrootcert', 'sslcert', 'sslkey']) {
        const path = searchParams.get(name);
        if (path !== null) readText(path, `${name}: `);
      }
      return { address: { postgres: url }, name: `postgres://${hostname}${port && `:${port}`}${pathname}` };
    }
  }
  throw new Error('must be postgres://user@host/database or file:/path/of/a/file');
}

/** @returns undefined where a `%` begins no valid escape */
function decoded(part: string): string | undefined {
  return orElse(() => decodeURIComponent(part), undefined);
}

function inFile(file: string): Place {
  return { address: { file }, name: `file:${file}` };
}

/** The default file is in the user's folder for program state, so it does not depend on the working directory. */
function defaultFile({ XDG_STATE_HOME }: Environment): string {
  return join(XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'order-saga', 'journal.db');
}
