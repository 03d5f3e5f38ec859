/** What recorded answers would mean by a profile. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runHere } from '../../support/command-line';
import { sandboxProfileFile } from '../../support/activity-settings';

const folder = mkdtempSync(join(tmpdir(), 'order-saga-profile-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});
const file = (name: string, content: unknown) => {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
};
const check = async (profile: string, ...answers: unknown[]) => {
  const paths = answers.map((one, index) => file(`${index}.json`, one));
  const { status, out, err } = await runHere(['profile', 'check', profile, ...paths], '', {});
  return { status, said: (out + err).replaceAll(folder, '') };
};

const placed = { status: 'accepted', order_id: 701, vm_object_ids: [9001, 9002] };

it.each([
  [{ call: 'order', body: placed }, 0, /order, 200 +done; order id: 701; servers: 9001, 9002/],
  [{ call: 'order', body: JSON.stringify(placed) }, 0, /done; order id: 701/],
  [
    { call: 'order', body: { ok: true } },
    1,
    /UnknownOutcome: .*`order.doneIf`[^]*order.servers: \/vm_object_ids finds nothing/,
  ],
  [{ call: 'delete', status: 404, body: { code: 404 } }, 0, /delete, 404 +done/],
  [
    { call: 'delete', status: 404, body: { detail: 'no route' } },
    1,
    /NotDeclared: .*`delete.goneIf`[^]*\/code finds nothing/,
  ],
  [{ call: 'delete', status: 404, body: '<p>no such page' }, 1, /UnexpectedResponse: .*a page/],
  [{ call: 'add', body: { success: false } }, 1, /Rejected: .*`refusals.1`/],
  [
    {
      call: 'list',
      body: [
        { id: 1, status: 'active' },
        { id: 2, status: 'pending' },
      ],
    },
    0,
    /whole: 1, 2; active: 1$/m,
  ],
  [{ call: 'quote', body: { available: 1 } }, 1, /not as documented: total, currency/],
  [
    [
      { call: 'assign', body: {} },
      { call: 'order', status: 409 },
    ],
    1,
    /assign, 200[^]*order, 409 +UnknownOutcome/,
  ],
])('%j', async (answer, status, says) => {
  const came = await check(sandboxProfileFile, answer);
  expect(came.said).toMatch(says);
  expect(came.status).toBe(status);
});

it('reads the file only, where there are no answers', async () => {
  expect(await check(sandboxProfileFile)).toEqual({
    status: 0,
    said: expect.stringMatching(/declares order, change/) as string,
  });
});

it.each([
  ['an unknown field', { order: { done: {} } }, /order.done: there is no such field/],
  ['no JSON', '{', /the file is not JSON/],
  [
    'a refusal that fits whatever is done',
    { order: { doneIf: { '/id': 1 } }, refusals: [{ call: 'order', if: { '/id': 1 }, means: 'Rejected' }] },
    /refusals/,
  ],
])('refuses a profile with %s, by name', async (_, content, says) => {
  const { status, said } = await check(file('profile.json', content));
  expect(status).toBe(2);
  expect(said).toMatch(says);
});

it('takes a byte-order mark for none of its letters', async () => {
  expect((await check(file('profile.json', '\ufeff{}'))).said).toMatch(/declares nothing/);
});

it.each([
  ['{"call":"buy"}', /0.json: .*call: must be one of order/],
  ['{"call":"order","stauts":1}', /stauts/],
  ['no', /is not JSON/],
])('refuses the answer %s, by name', async (answer, says) => {
  const { status, said } = await check(sandboxProfileFile, answer);
  expect([status, said]).toEqual([2, expect.stringMatching(says)]);
});
