import { routesOf, type Route, type SagaEvent } from '../../../src/domain/notifications';

const route = (changes: Partial<Route> = {}): Route => {
  return { name: 'ops', url: 'https://ops.example/', secret: 's', ...changes };
};
const event = (changes: Partial<SagaEvent> = {}): SagaEvent => ({
  ...{ id: '1', event: 'waiting', at: '2026-11-23T00:00:00.000Z', state: 'stuck', kind: 'stuck', reminders: 0 },
  ...changes,
});
const ended = event({
  event: 'ended',
  state: 'done',
  kind: undefined,
  reminders: undefined,
  outcome: 'done',
} as object);

it.each<[string, Partial<Route>, SagaEvent, string | undefined, string[]]>([
  ['all', {}, event(), undefined, ['ops']],
  ['its account', { accounts: ['AB-1'] }, event(), 'AB-2', []],
  ['its account, however it is written', { accounts: ['AB-1'] }, event(), 'ab-01', ['ops']],
  ['its account', { accounts: ['AB-1'] }, event(), undefined, []],
  ['its kinds', { kinds: ['stuck', 'approval'] }, event(), undefined, ['ops']],
  ['its kinds', { kinds: ['approval'] }, event(), undefined, []],
  ['its kinds', { kinds: ['approval'] }, ended, undefined, ['ops']],
  ['its outcomes', { outcomes: ['partly'] }, ended, undefined, []],
  ['its outcomes', { outcomes: ['partly'] }, event(), undefined, ['ops']],
  ['its events', { events: ['ended'] }, event(), undefined, []],
  ['questions, if it is a pager', { format: 'pagerduty' }, event({ event: 'settled' }), undefined, ['ops']],
  ['nothing else then', { format: 'pagerduty' }, ended, undefined, []],
  ['all in a chat', { format: 'slack' }, ended, undefined, ['ops']],
])('a route takes %s (%#)', (_what, changes, said, account, taken) => {
  expect(routesOf(said, account, [route(changes)])).toEqual(taken);
});

it('an event takes every route that matches', () => {
  const routes = [route(), route({ name: 'no', events: ['ended'] }), route({ name: 'too' })];
  expect(routesOf(event(), undefined, routes)).toEqual(['ops', 'too']);
});
