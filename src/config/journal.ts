import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { orElse } from '../domain/none-if';
import type { JournalAddress } from '../journal/dialects';
import { isLoopback, readPayloadKeys } from './checks';
import { oneOf } from './kinds';
import { from, readSettings, readText, SettingsError, textOrFile, type Environment } from './settings';

export type JournalConfig = NonNullable<ReturnType<typeof readJournal>>;

interface Place {
  address: JournalAddress;
  /** The address without its password, for messages. */
  name: string;
}

export const journalSettings = z.object({
  /** The meaning of another timeline of the journal's cluster. */
  failover: from('JOURNAL_FAILOVER', oneOf('ask', 'lossless').default('ask')),
  /** A worker keeps here what it has seen of the journal. */
  witnessFile: from('JOURNAL_WITNESS_FILE', z.string().optional()),
});

const expected = 'must be postgres://user@host/database or file:/path/of/a/file';

/** For programs that use the journal only: by default this machine's own file. @throws SettingsError */
export function readJournalConfig(env: Environment = process.env) {
  const problems: string[] = [];
  const payloadKeys = readPayloadKeys(env, problems);
  const journal = readJournal(env, 'localhost', problems);
  if (journal === undefined || problems.length > 0) throw new SettingsError(problems);
  return Object.freeze({ ...journal, payloadKeys });
}

/** @param temporalHost if it is known: a journal in a file serves only a Temporal server on the same machine */
export function readJournal(env: Environment, temporalHost: string | undefined, problems: string[]) {
  const settings = readSettings(journalSettings, env, problems);
  const place = placeOf(env, temporalHost, problems);
  return settings && place && { ...settings, ...place };
}

function placeOf(env: Environment, temporalHost: string | undefined, problems: string[]): Place | undefined {
  const known = problems.length;
  const given = textOrFile('JOURNAL_URL', env, problems);
  if (given !== undefined) return parse(given.text, given.name, problems);
  if (problems.length > known || temporalHost === undefined) return undefined;
  if (isLoopback(temporalHost)) return inFile(defaultFile(env));
  problems.push(
    'JOURNAL_URL: is required for a Temporal server that is not on this machine, because all workers must use one journal ' +
      '(postgres://…, see docs/journal.md)',
  );
  return undefined;
}

/** No message repeats the URL: there may be a password in it. */
function parse(url: string, setting: string, problems: string[]): Place | undefined {
  if (url.startsWith('file:')) {
    // `file://host/path` would be on another machine.
    const path = decoded(url.slice('file:'.length).replace(/^\/\/(?=\/)/, ''));
    if (path && !path.startsWith('//')) return inFile(resolve(path));
  } else if (/^postgres(ql)?:\/\//.test(url) && URL.canParse(url)) {
    const { hostname, port, pathname, username, password, searchParams } = new URL(url);
    const isWhole = [username, password, pathname].every((part) => decoded(part) !== undefined);
    if (isWhole && hostname !== '' && pathname.length > 1) {
      if (!canReadCertificates(searchParams, setting, problems)) return undefined;
      return { address: { postgres: url }, name: `postgres://${hostname}${port && `:${port}`}${pathname}` };
    }
  }
  problems.push(`${setting}: ${expected}`);
  return undefined;
}

/** @returns undefined where a `%` begins no valid escape */
function decoded(part: string): string | undefined {
  return orElse(() => decodeURIComponent(part), undefined);
}

/** The driver reads the files only when it connects; a wrong path would look like a server that does not answer. */
function canReadCertificates(parameters: URLSearchParams, setting: string, problems: string[]): boolean {
  return ['sslrootcert', 'sslcert', 'sslkey'].every((name) => {
    const path = parameters.get(name);
    return path === null || readText(`${setting}: ${name}`, path, problems) !== undefined;
  });
}

function inFile(file: string): Place {
  return { address: { file }, name: `file:${file}` };
}

/** The default file is in the user's folder for program state, so it does not depend on the working directory. */
function defaultFile({ XDG_STATE_HOME }: Environment): string {
  return join(XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'order-saga', 'journal.db');
}
