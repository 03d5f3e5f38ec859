/** The part of a profile that follows from a real list of firewalls; and what such a list does not show. */
import type { Profile } from '../domain/profile';
import { isRecord } from '../domain/values';
import type { ListAnswer } from '../provider/firewall-list';
import { readId } from '../provider/ids';
import { pointersTo, valuesAt } from '../provider/json-pointer';

interface Draft {
  firewalls: NonNullable<Profile['firewalls']>;
  unseen: string[];
}

export function draftFirewalls({ body, isPart }: ListAnswer): Draft {
  const lists = Array.isArray(body) ? [''] : pointersTo(Array.isArray, body);
  const [list = ''] = lists;
  if (lists.length !== 1) return { firewalls: {}, unseen: [`where the list is: ${lists.join(' or ') || 'nowhere'}`] };
  const elements = valuesAt(`${list}/*`, body);
  const inEach = (fits: (value: unknown) => boolean) =>
    pointersTo(fits, elements[0]).filter((at) => elements.every((one) => valuesAt(at, one).some(fits)));
  const ids = inEach((value) => readId(value) !== undefined);
  const isCount = (value: unknown) => value === elements.length || value === String(elements.length);
  const counts = pointersTo(isCount, body).filter((at) => !at.startsWith(`${list}/`));
  const hasMore = isRecord(body) && (Object.keys(body).length > 1 || list.lastIndexOf('/') > 0);
  const [first] = elements;
  const states = inEach((value) => typeof value === 'boolean' || (typeof value === 'string' && value.length <= 40))
    .map((at) => ({ at, values: [...new Set(elements.map((one) => valuesAt(at, one)[0]))] }))
    .filter(({ values }) => values.length === 1)
    .map(({ at, values }) => JSON.stringify({ [at]: values[0] }));
  return {
    firewalls: {
      ...(list === '' ? {} : { list }),
      ...(ids.length === 1 && ids[0] !== '/id' ? { id: ids[0] } : {}),
      ...(hasMore && counts.length === 1 ? { whole: { [counts[0] ?? '']: 'length' } } : {}),
    },
    unseen: [
      ...(isPart ? ['more than a part, says HTTP: such a list is not read'] : []),
      ...(first === undefined ? ['any firewall: ask about a server that has some'] : []),
      ...(isRecord(first) && ids.length !== 1 ? [`which is its id (id): ${ids.join(' or ') || 'none'}`] : []),
      ...(hasMore && counts.length !== 1 ? [`what says that it is whole (whole): ${counts.join(' or ')}`] : []),
      `what says that one is active (activeIf): perhaps ${[...states, '"listed"'].join(' or ')}`,
    ],
  };
}
