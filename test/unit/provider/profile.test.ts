/** The provider's profile: what a file may declare, and when a condition holds. */
import { readProfile } from '../../../src/config/parsers';
import type { Condition } from '../../../src/domain/profile';
import { digestOf, holds } from '../../../src/provider/profile';
import { folderForFile } from '../../support/folder';

const { write } = folderForFile();
let files = 0;
const readText = (text: string) => readProfile(write(`profile-${++files}`, text));
const read = (profile: unknown) => readText(JSON.stringify(profile));

it.each<[condition: Condition | undefined, body: unknown, does: boolean]>([
  [undefined, { id: 1 }, false],
  ['status', null, true],
  [{ '/id': 'present' }, { id: 7 }, true],
  ...[null, '', ' ', 0, '0', '0.0', false, 'false', [], {}].map((id): [Condition, unknown, boolean] => [
    { '/id': 'present' },
    { id },
    false,
  ]),
  [{ '/id': 'present' }, {}, false],
  [{ '/id': 'present' }, null, false],
  [{ '/id': 'present' }, 'id', false],
  [{ '/state': ['ok', 'accepted'] }, { state: 'accepted' }, true],
  [{ '/state': ['ok', 'accepted'] }, { state: ['ok', 'accepted'] }, false],
  [{ '/state': 'ok' }, { state: 'OK' }, false],
  [{ '/error': null }, { error: null }, true],
  [{ '/error': null }, {}, false],
  [{ '/id': 'present', '/ok': true }, { id: 7, ok: false }, false],
  [{ '/all/*/ok': true }, { all: [{ ok: true }, { ok: true }] }, true],
  [{ '/all/*/ok': true }, { all: [{ ok: true }, { ok: false }] }, false],
  [{ '/all/*/ok': true }, { all: [{ ok: true }, {}] }, false],
  [{ '/all/*/ok': true }, { all: [] }, false],
  [{ '/all/1': 'b' }, { all: ['a', 'b'] }, true],
  [{ '': 'OK' }, 'OK', true],
  [{ '/constructor': 'present' }, {}, false],
  [{ '/length': 'present' }, [1], false],
])('the condition %j of the body %j holds: %j', (condition, body, does) => {
  expect(holds(condition, body)).toBe(does);
});

it.each<[profile: object, problem: RegExp]>([
  [{ ordre: {} }, /^ordre: there is no such field/],
  [{ order: { doneIff: 'status' } }, /^order.doneIff: there is no such field/],
  [{ order: { doneIf: {} } }, /^order\.doneIf: /],
  [{ order: { doneIf: 'always' } }, /^order\.doneIf: must be "status", or JSON pointers/],
  [{ order: { servers: 'data' } }, /^order\.servers: must be a JSON pointer/],
  [{ directory: { path: 'servers', servers: '/*/id' } }, /^directory\.path: must begin with \//],
  [{ directory: { path: '/s', servers: '/*/id', labelIsUnique: true } }, /labelIsUnique says nothing/],
  [{ planTypes: { cloud_servers_highstorage: 'other' } }, /can only be server/],
  [{ refusals: [{ call: 'order', means: 'Rejected' }] }, /^refusals\[0\]: must have a status, or an if/],
  [{ refusals: [{ call: 'ordr', status: 409, means: 'Rejected' }] }, /^refusals\[0\]\.call: /],
])('the profile %j is refused by name', (profile, problem) => {
  expect(() => read(profile)).toThrow(problem);
});

it.each<[text: string, problem: RegExp]>([
  ['{"__proto__":{}}', /^__proto__: cannot be the name of a field/],
  ['{"order":{"doneIf":{"/id":"present","__proto__":"x"}}}', /^order\.doneIf\.__proto__: cannot be the name/],
  ['{"planTypes":{"__proto__":"server"}}', /^planTypes\.__proto__: cannot be the name/],
  ['{"constructor":{}}', /^constructor: there is no such field/],
  ['{"order":{"prototype":{}}}', /^order.prototype: there is no such field/],
  ['{"order":{"doneIf":"status"},\n"order":{}}', /^the file names a field twice: order, line 2, column 2$/],
])('the profile %s is refused by name', (text, problem) => {
  expect(() => readText(text)).toThrow(problem);
});

it('a value of a condition is compared to its last digit', () => {
  const { order } = readText('{"order":{"doneIf":{"/id":9007199254740993}}}');
  expect([holds(order?.doneIf, { id: '9007199254740993' }), holds(order?.doneIf, { id: 2 ** 53 })]).toEqual([
    true,
    false,
  ]);
});

const doneIf = { '/id': 'present', '/state': ['ok', 'accepted'] };
it.each<[refusal: object, doneIf: Condition, never: boolean]>([
  [{ if: { '/state': 'ok' } }, doneIf, false],
  [{ if: { '/state': ['ok', 'accepted', 'refused'] } }, doneIf, true],
  [{ if: { '/id': 'present', '/state': 'present' } }, doneIf, true],
  [{ if: { '/id': 7 } }, doneIf, false],
  [{ if: { '/other': 'present' } }, doneIf, false],
  [{ status: 200 }, doneIf, true],
  [{ status: 409, if: { '/id': 'present' } }, doneIf, false],
  [{ status: [200, 201] }, 'status', true],
  [{ if: { '/ok': false } }, 'status', false],
])('a refusal %j beside doneIf %j lets nothing ever be done: %j', (refusal, done, never) => {
  const profile = { order: { doneIf: done }, refusals: [{ call: ['add', 'order'], means: 'Rejected', ...refusal }] };
  const checked = () => read(profile);
  if (never) expect(checked).toThrow(/^refusals\[0\]: its conditions all stand in order\.doneIf/);
  else expect(checked).not.toThrow();
});

it('a byte-order mark before a profile is passed over, and no word of another file is quoted', () => {
  const profile = { delete: { doneIf: 'status' } };
  expect(readProfile(write('marked', `\uFEFF${JSON.stringify(profile)}`))).toEqual(profile);
  expect(() => readProfile(write('other', 'SecretWord'))).toThrow(/^the file is not JSON: line 1, column 1$/);
});

it('profiles that say something else have another digest', () => {
  const [one, same, other] = [{ doneIf: 'status' }, { doneIf: 'status' }, {}].map((order) => digestOf(read({ order })));
  expect(one).toMatch(/^[\da-f]{8}$/);
  expect([same === one, other === one]).toEqual([true, false]);
});

it('http is known by its name: every status of success counts, and a firewall that is listed is active', () => {
  const { order, delete: deleted, firewalls } = readProfile('http');
  expect({ order, deleted, firewalls }).toMatchObject({
    order: { doneIf: 'status' },
    deleted: { goneIf: 'status' },
    firewalls: { activeIf: 'listed', whole: 'status' },
  });
});
