/** What a list of firewalls proves where its profile declares which are active, and where it does not. */
import { ProviderClient } from '../../../src/provider/client';
import { rigSettings } from '../../support/activity-settings';
import { closeAll, providerAt, serve } from '../../support/stand-in';
import { stand, standAlone, type LoneSaga } from './lone-activities';

standAlone();
const providers: ProviderClient[] = [];
afterEach(async () => {
  await Promise.all(providers.splice(0).map((provider) => provider.close()));
  await closeAll();
});

const pending = [{ id: 143, state: 'pending' }];
const active = [{ id: 143, state: 'active' }];
const declared = { firewalls: { activeIf: { '/state': 'active' } } };

/** @param answers of the provider, the last one from then on */
async function sagaWith(profile: object, ...answers: { status?: number; body: unknown }[]): Promise<LoneSaga> {
  const { url } = await serve(...answers.map(({ body, ...answer }) => ({ ...answer, body: JSON.stringify(body) })));
  const provider = new ProviderClient({ ...providerAt(url), profile });
  providers.push(provider);
  return stand.saga({ provider, settings: { ...rigSettings, profile } }, 'setFirewalls');
}

type Told = (again: Promise<{ value: unknown }>) => Promise<void>;
const tells =
  (value: object): Told =>
  async (again) =>
    expect((await again).value).toStrictEqual(value);
const notVisibleYet: Told = (again) => expect(again).rejects.toThrow('the list does not show it');

it.each<[string, object, object[], string, Told]>([
  ['done', declared, active, 'done', tells({})],
  ['not visible yet', declared, pending, 'unknown NotVisibleYet', notVisibleYet],
  ['undeclared', {}, pending, 'unknown', tells({ undeclared: true })],
  ['not visible yet', {}, [], 'unknown NotVisibleYet', notVisibleYet],
])(
  'an assignment of unknown outcome that is refused the second time is %s (%j, %j)',
  async (_, profile, body, outcome, told) => {
    const saga = await sagaWith(profile, { status: 500, body: {} }, { status: 422, body: { m: 'is there' } }, { body });
    const assign = { step: 'assign', vmObjectId: 9301, firewalls: [143] };
    await saga.refusal('assignFirewalls', assign);
    await told(saga.do('assignFirewalls', assign));
    expect(await saga.outcomes()).toEqual(['assign mutate unknown UnknownOutcome', `assign mutate ${outcome}`]);
  },
);

it.each([
  [[143], declared, active, { how: 'compared', missing: [], surplus: [], unprotected: [] }],
  [[143], declared, pending, { how: 'compared', missing: [], surplus: [], unprotected: [143] }],
  [[143, 150], {}, active, { how: 'compared', missing: [], surplus: [], unprotected: [143, 150] }],
  [[143], {}, active, { how: 'unseen', why: expect.stringContaining('`firewalls.activeIf`') as string }],
])('a sweep sees of a server that lacked %j (%j, %j): %j', async (firewalls, profile, body, seen) => {
  const saga = await sagaWith(profile, { body });
  const wanted = { firewalls, saidMs: Date.now() };
  expect(await saga.under('reconcile').do('compareFirewalls', { vmObjectId: 9302, wanted })).toStrictEqual(seen);
});
