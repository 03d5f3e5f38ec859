/**
 * A list of firewalls (row 10), of which the document shows nothing. It is read as the profile declares it. Undeclared,
 * only an answer that is itself a list of ids, or of objects with an `id`, is one; and that a firewall is listed does not
 * say that it protects.
 */
import type { Pointers, Profile } from '../domain/profile';
import { isRecord } from '../domain/values';
import { readId, readIds } from './ids';
import { valuesAt } from './json-pointer';
import { holds } from './profile';

export interface ListAnswer {
  body: unknown;
  /** HTTP itself says that it is not the whole: by its status, or by its headers. */
  isPart: boolean;
}

interface Firewalls {
  /** Those that are listed. */
  ids: number[];
  /** Those of them that are declared to be active; undefined where nobody has declared which are. */
  active: number[] | undefined;
}

/** A longer list is not read: the lists of all servers of an order must fit into its result. */
const firewallsListedMax = 500;

/** @returns undefined where the whole list cannot be read: a list that is partly guessed is worse than none */
export function readFirewalls(
  { body, isPart }: ListAnswer,
  { list, id, activeIf, whole }: NonNullable<Profile['firewalls']> = {},
): Firewalls | undefined {
  const elements = list === undefined ? body : single(valuesAt(list, body));
  const all = isRecord(body) && Object.keys(body).length === 1 ? Object.values(body)[0] : body;
  if (!Array.isArray(elements) || elements.length > firewallsListedMax || isPart) return undefined;
  const counted = whole === undefined || whole === 'status' ? whole : withLength(whole, elements.length);
  if (!(counted === undefined ? elements === all : holds(counted, body))) return undefined;
  const idOf = (element: unknown) => {
    if (id !== undefined) return readId(single(valuesAt(id, element)));
    return readId(isRecord(element) ? element['id'] : element);
  };
  const ids = readIds(elements, idOf);
  if (ids === undefined || activeIf === undefined) return ids && { ids, active: undefined };
  const inactive = activeIf === 'listed' ? [] : elements.filter((element) => !holds(activeIf, element)).map(idOf);
  return { ids, active: ids.filter((one) => !inactive.includes(one)) };
}

const single = (values: readonly unknown[]): unknown => (values.length === 1 ? values[0] : undefined);

function withLength(whole: Pointers, length: number): Pointers {
  const counts = (wanted: Pointers[string]) => (wanted === 'length' ? [length, String(length)] : wanted);
  return Object.fromEntries(Object.entries(whole).map(([at, wanted]) => [at, counts(wanted)]));
}
