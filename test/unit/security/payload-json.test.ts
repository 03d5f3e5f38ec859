/** Payloads as protobuf's JSON has them; what is none is refused without a word of it. */
import { payloadFromJson, payloadToJson } from '../../../src/security/payload-json';

it.each([
  [{}, {}],
  [{ metadata: null, data: null }, {}],
  [{ metadata: { a: 'YQ==' }, data: '' }, { metadata: { a: 'YQ==' } }],
  [
    { metadata: { a: 'YQ' }, data: 'YQ' },
    { metadata: { a: 'YQ==' }, data: 'YQ==' },
  ],
  [{ data: '-_8' }, { data: '+/8=' }],
  [{ other: 1, data: 'YQ==' }, { data: 'YQ==' }],
])('reads %j', (json, written) => {
  expect(payloadToJson(payloadFromJson(json))).toEqual(written);
});

it.each([
  ...[null, 5, 'x', []],
  ...[{ metadata: { a: '!!' } }, { metadata: { a: 5 } }, { metadata: [] }, { metadata: 'x' }],
  ...[{ data: 5 }, { data: 'Y' }, { data: 'YQ===' }, { data: 'Y Q==' }, { data: 'canary!' }],
])('refuses %j', (json) => {
  expect(() => payloadFromJson(json)).toThrow(/^it is not a payload$/);
});
