/**
 * Only what the document shows, or the profile declares, is believed: whatever words an answer has. Arbitrary answers:
 * test/system/fuzz.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { httpProfile, profileSchema, type Profile } from '../../../src/domain/profile';
import { added, closeAll, createClient, failureOf, quote, reading, serve, type Answer } from '../../support/stand-in';
import { providerCalls, type ProviderCallName } from '../../support/provider-calls';

afterEach(closeAll);

const names = Object.keys(providerCalls) as ProviderCallName[];

/** @returns what the call brought as JSON, or the failure's name */
async function verdict(name: ProviderCallName, answer: Answer | object, profile?: Profile): Promise<string> {
  const { url } = await serve('body' in answer || 'status' in answer ? answer : { body: JSON.stringify(answer) });
  return providerCalls[name](createClient(url, { profile })).then(
    (value) => `done ${JSON.stringify(value)}`,
    (error: unknown) => (error as Error).name,
  );
}
const json = (body: unknown, more: Answer = {}): Answer => ({ ...more, body: JSON.stringify(body) });

describe('without a profile', () => {
  test.each(['order', 'changeOrder'] as const)(
    'a 2xx of %s is of unknown outcome, and says which line would settle it',
    async (name) => {
      for (const answer of [
        json({ success: true, order_id: 5 }),
        { status: 204 },
        { body: '' },
        json({ success: false }),
      ]) {
        const { url } = await serve(answer);
        const failure = await failureOf(providerCalls[name](createClient(url, { profile: undefined })));
        expect(failure.name).toBe('UnknownOutcome');
        expect(failure.message).toContain(`\`${name}.doneIf\` of the provider’s profile would`);
      }
    },
  );

  test('a delete is neither done nor gone, whoever answers', async () => {
    const gateways = [
      '{"message":"no Route matched"}',
      '{"detail":"Not Found"}',
      '',
      '404',
      '{"status":404,"error":"Not Found"}',
    ];
    for (const status of [404, 410])
      for (const body of gateways)
        expect([body, await verdict('delete', { status, body })]).toEqual([body, 'NotDeclared']);
    expect(await verdict('delete', json({ status: 'ok' }))).toBe('NotDeclared');
    const { url } = await serve(json({ message: 'Not Found' }, { status: 404 }));
    const { message, body } = await failureOf(createClient(url, { profile: undefined }).deleteCartItem(1));
    expect(message).toMatch(/`delete.goneIf` of the provider’s profile would: it is perhaps in the cart$/);
    expect(body).toContain('Not Found');
  });

  test.each<[string, Answer]>([
    ['a next page', { headers: { link: '</servers?page=2>; rel="next"' } }],
    ['206', { status: 206 }],
    ['a range', { headers: { 'content-range': 'items 0-1/35' } }],
  ])('a directory of which HTTP says that it is a part (%s) is not read', async (_, more) => {
    expect(await verdict('directory', json({ data: [{ id: 1 }] }, more))).toBe('UnknownOutcome');
  });

  test.each([
    [{ data: [{ id: 1 }, { id: '2' }], next: null }, true],
    [{ data: [] }, true],
    [{ errors: [] }, false],
    [{ data: {} }, false],
    [[], false],
    [null, false],
    [{ data: [{ id: 1 }, { id: null }] }, false],
    [{ data: [{ id: 1 }, { id: 2 }, { id: 1 }] }, false],
    [{ data: [{ id: 1 }, { id: 9_007_199_254_740_992 }] }, false],
  ])('a directory that answers %j has a list where the profile says: %s', async (body, isList) => {
    const profile: Profile = { directory: { path: '/s', servers: '/data/*/id', labelIsUnique: false } };
    expect(await verdict('directory', json(body), profile)).toMatch(isList ? /^done/ : /^UnknownOutcome$/);
  });

  test.each(['NotYet', 'RateLimited', 'Rejected'] as const)('a declared refusal counts: %s', async (means) => {
    const refusals = [{ call: ['assign' as const, 'unassign' as const], if: { '/code': 'installing' }, means }];
    for (const name of ['assign', 'unassign'] as const)
      expect(await verdict(name, json({ code: 'installing' }, { status: 409 }), { refusals })).toBe(means);
  });

  test('the answer to an assignment is not the evidence', async () => {
    for (const name of ['assign', 'unassign'] as const) {
      expect(await verdict(name, json({ success: true }))).toBe('done false');
      expect(await verdict(name, json({}), { [name]: { doneIf: 'status' } })).toBe('done true');
    }
  });

  test('an answer in parts is unknown', async () => {
    const parts = json({ ...added, ...quote, inapplicable_resources: [] }, { status: 207 });
    for (const name of names.filter((one) => one !== 'list' && one !== 'delete')) {
      for (const profile of [undefined, httpProfile()])
        expect([name, await verdict(name, parts, profile)]).toEqual([name, 'UnknownOutcome']);
    }
    const profile: Profile = { order: { doneIf: { '/results/*/status': 'ok' } } };
    const results = (...all: string[]) => json({ results: all.map((status) => ({ status })) }, { status: 207 });
    expect(await verdict('order', results('ok', 'ok'), profile)).toMatch(/^done/);
    for (const one of [results('ok', 'failed'), results()])
      expect(await verdict('order', one, profile)).toBe('UnknownOutcome');
  });

  test.each([
    { errcode: 40001 },
    { order_id: 77, payment_status: 'declined' },
    { Data: { Success: false } },
    { order_id: 5, vm_object_ids: [] },
    { orders: [{ id: 1, status: 'rejected' }] },
    ['error', 'insufficient funds'],
  ])('neither is %j a refusal, nor anything else', async (body) => {
    expect(await verdict('order', json(body))).toBe('UnknownOutcome');
    expect(await verdict('add', json({ ...body, ...added }))).toMatch(/^done/);
  });
});

describe('doneIf', () => {
  const profile: Profile = { order: { doneIf: { '/order_id': 'present', '/status': ['ok', 'queued'] } } };
  test('of an order that names no server, where that was declared, is not there', async () => {
    const named: Profile = { order: { doneIf: { '/vm_object_ids': 'present' } } };
    expect(await verdict('order', json({ order_id: 5, vm_object_ids: [] }), named)).toBe('UnknownOutcome');
  });

  test.each([
    [{ order_id: 5, status: 'ok' }, true],
    [{ order_id: 5, status: 'queued', success: false }, true],
    [{ order_id: 5 }, false],
    [{ order_id: 0, status: 'ok' }, false],
    [{ order_id: 5, status: 'no' }, false],
    [null, false],
  ])('of %j: %s', async (body, isDone) => {
    const came = await verdict('order', json(body), profile);
    expect(came).toBe(isDone ? `done ${JSON.stringify(body)}` : 'UnknownOutcome');
    // It speaks of no other call.
    expect(await verdict('changeOrder', json(body), profile)).toBe('UnknownOutcome');
  });

  test('goneIf needs its status, and the interface’s own word', async () => {
    const gone: Profile = { delete: { doneIf: { '/ok': true }, goneIf: { '/code': 'no_item' } } };
    const no = { code: 'no_item', ok: true };
    expect(await verdict('delete', json(no, { status: 404 }), gone)).toMatch(/^done/);
    expect(await verdict('delete', json(no, { status: 422 }), gone)).toBe('Rejected');
    expect(await verdict('delete', json({ ok: true }, { status: 404 }), gone)).toBe('NotDeclared');
    expect(await verdict('delete', json({ ok: true }), gone)).toMatch(/^done/);
    expect(await verdict('delete', json({ ok: false }), gone)).toBe('NotDeclared');
    for (const profile of [undefined, httpProfile()])
      expect(await verdict('delete', { status: 404, body: '<h1>Not Found</h1>' }, profile)).toBe('UnexpectedResponse');
  });

  test.each(['<html>', '{"order_id":5', '[1,2', '\u0000'])(
    'a body that is no JSON (%j) is done by no declaration',
    async (body) => {
      for (const declared of [profile, httpProfile()])
        expect(await verdict('order', { body }, declared)).toBe('UnknownOutcome');
    },
  );
});

describe('refusals', () => {
  const refusing = (...refusals: NonNullable<Profile['refusals']>): Profile => ({
    ...httpProfile(),
    order: { doneIf: { '/id': 'present' } },
    refusals,
  });
  test.each([
    ['Rejected', 'Rejected'],
    ['SoldOut', 'Rejected'],
    ['NotYet', 'NotYet'],
    ['RateLimited', 'RateLimited'],
    ['UnknownOutcome', 'UnknownOutcome'],
  ] as const)('%s, under any status', async (means, name) => {
    const profile = refusing({ call: 'order', if: { '/code': 'no_money' }, means });
    for (const status of [200, 202, 207, 404, 409, 500]) {
      const { url } = await serve(json({ code: 'no_money' }, { status }));
      const failure = await failureOf(providerCalls.order(createClient(url, { profile })));
      expect(failure).toMatchObject({ name, declared: means });
      expect(failure.message).toContain(`which means ${means} by \`refusals.0\``);
    }
    expect(await verdict('changeOrder', json({ code: 'no_money' }), profile)).toMatch(/^done/);
  });

  test('an answer that is done, and refused, is of unknown outcome', async () => {
    const profile = refusing({ call: ['order', 'add', 'switch', 'delete'], if: { '/no': true }, means: 'Rejected' });
    const both = { id: 5, no: true, ...added, ...quote };
    for (const name of ['order', 'add', 'switch', 'delete'] as const)
      expect([name, await verdict(name, json(both), profile)]).toEqual([name, 'UnknownOutcome']);
    const { url } = await serve(json(both));
    expect(await failureOf(providerCalls.add(createClient(url, { profile })))).toMatchObject({ cartItemId: 4711 });
    // It only looks: there is nothing that might be done.
    const sold = refusing({ call: 'quote', if: { '/no': true }, means: 'SoldOut' });
    expect(await verdict('quote', json(both), sold)).toBe('Rejected');
  });

  test('a status after which this provider may have placed it is no refusal, and the only one', async () => {
    const profile = refusing({ call: ['order'], status: [401, 403, 422], means: 'UnknownOutcome' });
    for (const status of [401, 403, 422]) {
      expect(await verdict('order', { status, body: 'no JSON' }, profile)).toBe('UnknownOutcome');
      expect(await verdict('add', { status }, profile)).not.toBe('UnknownOutcome');
    }
    expect(await verdict('order', { status: 400 }, profile)).toBe('Rejected');
    // Then another token is no reason to send it again.
    const { url, seen } = await serve({ status: 401 });
    await failureOf(providerCalls.order(createClient(url, { profile, readToken: reading('old', 'new') })));
    expect(seen).toHaveLength(1);
  });

  test('one that fits whatever is done is an error of the profile', () => {
    const read = (profile: Profile) => profileSchema().safeParse(profile).success;
    expect(read(refusing({ call: 'order', if: { '/id': 'present' }, means: 'Rejected' }))).toBe(false);
    expect(read(refusing({ call: 'order', if: { '/id': 'present' }, status: 409, means: 'Rejected' }))).toBe(true);
  });
});

describe('a quote', () => {
  const switched = async (changes: object) => {
    const { url } = await serve({ body: JSON.stringify({ ...quote, ...changes }).replace(/"(9\.99\d+)"/, '$1') });
    const client = createClient(url, { profile: undefined });
    return [
      await client.quotePlanSwitch({ subscription_id: 1, plan_id: 2 }).catch(String),
      await client.switchPlan(1, 2).catch(String),
    ];
  };
  test.each([1, '1', 'true', true])('%j is available', async (available) => {
    for (const one of await switched({ available })) expect(one).toMatchObject({ available: true });
  });
  test.each([0, '0', 'false', false])('%j is not, and nobody knows whether it was switched', async (available) => {
    const [quoted, placed] = await switched({ available });
    expect(quoted).toMatchObject({ available: false });
    expect(placed).toMatch(/^UnknownOutcome: .*not as documented: available/);
  });
  test.each(['yes', null, 2, ''])('%j says nothing', async (available) => {
    for (const one of await switched({ available })) expect(one).toMatch(/not as documented: available/);
  });
  test.each([
    [{ total: '9.9900000000000002' }, { total: 9.99 }],
    [{ total: '1.25e1' }, { total: 12.5 }],
    [{ total: '90071992547409.91' }, { total: 90_071_992_547_409.91 }],
    [
      { date_to: '0000-00-00', date_from: 'soon' },
      { date_to: '0000-00-00', date_from: 'soon' },
    ],
  ])('%j is read', async (changes, read) => {
    for (const one of await switched(changes)) expect(one).toMatchObject(read);
  });
  test.each(['9007199254740993', 2 ** 53, '-9007199254740993', '90071992547409.93', '1e15'])(
    'a total of %j, of which JavaScript holds no hundredths, is none',
    async (total) => {
      for (const one of await switched({ total })) expect(one).toMatch(/^UnknownOutcome: .*not as documented: total/);
    },
  );
});

test('no list of words judges an answer: src has none of the names that guessed', () => {
  const root = join(__dirname, '../../../src');
  const sources = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  const guessing = /\b(?:signIn|isPage|isActive|isRefusalWord|refusalWords|noInWords|acknowledgements|codeWords)\b/;
  const words = /declined|insufficient|unsuccessful|next_cursor|per_page|provisioned|total_pages/i;
  const guesses = sources.filter((path) => {
    const text = readFileSync(join(root, path), 'utf8');
    return guessing.test(text) || (path.startsWith('provider') && words.test(text));
  });
  expect(guesses).toEqual([]);
});
