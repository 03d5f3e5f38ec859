/** The environment, read as files are read; and the names in it that nobody would ever read. */
import { withoutMarks } from '../domain/values';
import { knownNames, SettingsError, type Environment } from './settings';

const ourPrefixes =
  /^(?:CODEC|JOURNAL|NOTIFICATION|OUTAGE|PAYLOAD|PIVOT|PROVIDER|RETRY|SPEND)_|^(?:DUPLICATE_WITHIN|ON_REFUSAL|OWN_TRIES|PLACED_IF|PLAN_TYPES|PRICE_LIST|REQUIRE_FIREWALL|SERVER_DIRECTORY|SERVER_POINTERS|TAKE_CLEAR)/;
/** Kubernetes gives each container the addresses of services, by their names. */
const ofService = /_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_(?:ADDR|PORT|PROTO))?)?)$/;
/** The configuration of Temporal's SDKs, and what our containers are given beside the programs' settings. */
const ofOthers = [
  ...['ADDRESS', 'NAMESPACE', 'API_KEY', 'PROFILE', 'CONFIG_FILE', 'TLS', 'CODEC_ENDPOINT', 'CODEC_AUTH'],
  ...['TLS_CLIENT_CERT_PATH', 'TLS_CLIENT_CERT_DATA', 'TLS_CLIENT_KEY_PATH', 'TLS_CLIENT_KEY_DATA', 'TLS_SERVER_NAME'],
  ...['TLS_SERVER_CA_CERT_PATH', 'TLS_SERVER_CA_CERT_DATA', 'TLS_DISABLE_HOST_VERIFICATION'],
]
  .map((name) => `TEMPORAL_${name}`)
  .concat('JOURNAL_PASSWORD', 'TEMPORAL_UI_PORT');

/** The same, each value as it was meant. */
export function valuesIn(env: Environment): Environment {
  return new Proxy(env, {
    get: (_, name) => {
      const value = env[String(name)];
      return value && withoutMarks(value);
    },
  });
}

/** A shorter name is like one of ours by chance. */
const lettersMin = 11;

/** @returns a sentence for each name that looks like one of ours and is none */
function unknownNames(env: Environment): string[] {
  const known = [...knownNames, ...ofOthers];
  return Object.keys(env).flatMap((name) => {
    const isOurs = ourPrefixes.test(name);
    if (!(isOurs || name.length >= lettersMin) || !env[name] || known.includes(name) || ofService.test(name)) return [];
    // Other programs have settings, too.
    const alike = isOurs ? known : known.filter((other) => Math.abs(other.length - name.length) <= 2);
    const all = alike.map((other): [string, number] => [other, editsBetween(name, other)]);
    const [nearest, edits] = all.sort(([, one], [, other]) => one - other)[0] ?? ['', Infinity];
    if (!isOurs && edits > 2) return [];
    const advice = edits <= name.length / 3 ? `; the nearest one is ${nearest}` : ' (docs/settings.md has all)';
    return [`${name}: there is no such setting${advice}`];
  });
}

/**
 * @param read adds a sentence to `problems` for each thing that is wrong
 * @returns what reads the settings of a program. It throws a SettingsError, with all that is wrong
 */
export function readerOf<T extends object>(read: (env: Environment, problems: string[]) => T | undefined) {
  return (environment: Environment = process.env): Readonly<T> => {
    const problems = unknownNames(environment);
    const config = read(valuesIn(environment), problems);
    if (config === undefined || problems.length > 0) throw new SettingsError(problems);
    return Object.freeze(config);
  };
}

/** How many letters have to be added, left out or replaced. */
function editsBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, edits) => edits);
  for (const [at, letter] of Array.from(one).entries()) {
    const next = [at + 1];
    for (const [below, edits] of row.slice(1).entries())
      next.push(Math.min(edits + 1, (next[below] ?? 0) + 1, (row[below] ?? 0) + (letter === other[below] ? 0 : 1)));
    row = next;
  }
  return row.at(-1) ?? 0;
}
