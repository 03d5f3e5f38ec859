/** Which items of an order are servers, and how many of its object ids there can be. */
import { countOf, serversOrdered } from '../../../src/domain/plan-types';
import { provisionServersSchema } from '../../../src/domain/requests';
import { describeProblems } from '../../../src/domain/problems';
import { check } from '../../../src/domain/validation';
import { provisionRequest } from '../../support/requests';

const more = { object_storage: 'other', gpu: 'server', bare_metal: 'unknown' } as const;
const server = { plan_type: 'cloud_servers_standard' };
const storage = { plan_type: 'object_storage' };
const untyped = { plan_type: undefined };

it.each([
  ['servers, with a missing quantity as one', [server, { ...server, quantity: 3 }], '4'],
  ['a cloud server beyond the supported ones', [{ plan_type: 'cloud_servers_highfrequency', quantity: 2 }], '2'],
  ['a type that is said to be a server', [{ plan_type: 'gpu', quantity: 2 }], '2'],
  ['nothing of a type that is said to be none', [server, { ...storage, quantity: 5 }], '1'],
  ['nothing in an order of nothing else', [storage], '0'],
  ['perhaps an item of a type of which nothing is said', [server, { plan_type: 'bare_metal', quantity: 2 }], '1 to 3'],
  ['perhaps an item without a type', [{}, server, { quantity: 2 }], '1 to 4'],
])('counts %s', (_, items, counted) => {
  expect(countOf(serversOrdered(items, more))).toBe(counted);
});

const said = (changes: Parameters<typeof provisionRequest>[0]) => {
  const checked = check(provisionServersSchema(more), provisionRequest(changes));
  return checked.ok ? 'nothing' : describeProblems(checked.problems);
};

it.each<[string, NonNullable<Parameters<typeof provisionRequest>[0]>, string]>([
  ['as many ids as servers', { items: [{}, storage], vmObjectIds: [1] }, 'nothing'],
  ['an id for what is no server', { items: [{}, storage], vmObjectIds: [1, 2] }, 'names 2 servers, but 1 are ordered'],
  ['the fewest', { items: [{}, untyped], vmObjectIds: [1] }, 'nothing'],
  ['the most', { items: [{}, untyped], vmObjectIds: [1, 2] }, 'nothing'],
  ['more', { items: [{}, untyped], vmObjectIds: [1, 2, 3] }, 'names 3 servers, but 1 to 2 are ordered'],
  ['fewer', { items: [{ quantity: 2 }, untyped], vmObjectIds: [1] }, 'names 1 servers, but 2 to 3 are ordered'],
  ['an order without servers', { items: [storage] }, 'nothing'],
  ['no firewalls for it', { items: [storage], firewalls: [] }, 'nothing'],
  ['firewalls for it', { items: [storage], firewalls: [143] }, 'firewalls: protect servers, but no item is a server'],
  ['firewalls for what may be servers', { items: [untyped], firewalls: [143] }, 'nothing'],
])('of a request: %s', (_, changes, sentence) => {
  expect(said(changes)).toContain(sentence);
});
