import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import type { JournalAddress } from '../journal/dialects';
import type { PayloadKeys } from '../security/keys';
import type { Failover } from '../journal/incarnation';
import { isLoopback } from './checks';
import { readPayloadKeys } from './payload-keys';
import { readSettings, readText, SettingsError, type Environment } from './settings';

/** Where the journal is. */
export interface JournalConfig {
  address: JournalAddress;
  /** The address without its password, for messages. */
  name: string;
  /** What another timeline of the journal's cluster means. */
  failover: Failover;
  /** Where a worker keeps what it has seen of the journal; none: nowhere. */
  witnessFile: string | undefined;
}

export const journalSettings = {
  JOURNAL_URL: z.string().optional(),
  JOURNAL_URL_FILE: z.string().optional(),
  JOURNAL_FAILOVER: z.enum(['ask', 'lossless']).default('ask'),
  JOURNAL_WITNESS_FILE: z.string().optional(),
};

const expected = 'must be postgres://user@host/database or file:/path/of/a/file';

/**
 * Reads the settings of programs that use the journal only. The default is this machine's own file.
 *
 * @throws SettingsError
 */
export function readJournalConfig(
  env: Environment = process.env,
): Readonly<JournalConfig & { payloadKeys: PayloadKeys | undefined }> {
  const problems: string[] = [];
  const payloadKeys = readPayloadKeys(env, problems);
  const journal = readJournal(env, 'localhost', problems);
  if (journal === undefined || problems.length > 0) throw new SettingsError(problems);
  return Object.freeze({ ...journal, payloadKeys });
}

/**
 * @param temporalHost where Temporal is, if that is known: a journal in a file serves only a Temporal server on the
 * same machine
 * @returns undefined, and adds to `problems`, where no suitable journal is set
 */
export function readJournal(
  env: Environment,
  temporalHost: string | undefined,
  problems: string[],
): JournalConfig | undefined {
  // Apart, so that a wrong one does not hide what is wrong with the others.
  const { JOURNAL_FAILOVER, JOURNAL_WITNESS_FILE, ...ofPlace } = journalSettings;
  const others = readSettings({ JOURNAL_FAILOVER, JOURNAL_WITNESS_FILE }, env, problems);
  const settings = readSettings(ofPlace, env, problems);
  const place = settings && placeOf(settings, env, temporalHost, problems);
  return place && others && { ...place, failover: others.JOURNAL_FAILOVER, witnessFile: others.JOURNAL_WITNESS_FILE };
}

type Place = Omit<JournalConfig, 'failover' | 'witnessFile'>;

function placeOf(
  { JOURNAL_URL, JOURNAL_URL_FILE }: { JOURNAL_URL?: string | undefined; JOURNAL_URL_FILE?: string | undefined },
  env: Environment,
  temporalHost: string | undefined,
  problems: string[],
): Place | undefined {
  if (JOURNAL_URL !== undefined && JOURNAL_URL_FILE !== undefined) {
    problems.push('JOURNAL_URL: cannot be set together with JOURNAL_URL_FILE; set one of them');
    return undefined;
  }
  const url = JOURNAL_URL_FILE === undefined ? JOURNAL_URL : readText('JOURNAL_URL_FILE', JOURNAL_URL_FILE, problems);
  if (JOURNAL_URL_FILE !== undefined && !url) {
    if (url === '') problems.push('JOURNAL_URL_FILE: the file is empty');
    return undefined;
  }
  if (url === undefined) {
    if (temporalHost === undefined) return undefined;
    if (isLoopback(temporalHost)) return inFile(defaultFile(env));
    problems.push(
      'JOURNAL_URL: is required for a Temporal server that is not on this machine, because all workers must use one journal ' +
        '(postgres://…, see docs/journal.md)',
    );
    return undefined;
  }
  return parse(url, JOURNAL_URL_FILE === undefined ? 'JOURNAL_URL' : 'JOURNAL_URL_FILE', problems);
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
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
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
