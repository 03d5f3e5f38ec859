import { isDeepStrictEqual } from 'node:util';
import { requestSchemas } from '../../../src/domain/requests';
import { planOf, spoilingKinds } from './plan';

const plan = planOf('a seed', 400);

it('is the same for the same seed, and another one for another', () => {
  expect(planOf('a seed', 400)).toEqual(plan);
  expect(planOf('another seed', 400)).not.toEqual(plan);
});

it('asks for nothing that a client would refuse', () => {
  const schemas = requestSchemas();
  for (const { asked } of plan.sagas) expect(schemas[asked.workflow]().safeParse(asked.request).error).toBeUndefined();
});

it('tells the calls of each saga from those of all others, but for pairs that share a server or a subscription', () => {
  const sharing = new Map<string, string[]>();
  for (const { asked, calls } of plan.sagas) {
    const key = JSON.stringify(calls);
    sharing.set(key, [...(sharing.get(key) ?? []), asked.workflow]);
  }
  const kinds = [...sharing.values()].filter(({ length }) => length > 1);
  for (const pair of [
    ['changeOrder', 'switchPlan'],
    ['setFirewalls', 'setFirewalls'],
  ]) {
    expect(kinds.filter((kind) => isDeepStrictEqual(kind, pair)).length).toBeGreaterThan(2);
  }
  expect(kinds.every(({ length }) => length === 2)).toBe(true);
});

it.each([100, 400])('of %d sagas holds every kind of what can happen, several times', (sagas) => {
  const { sagas: planned, losses, journalDeaths } = planOf('any', sagas);
  const count = (found: (string | undefined)[], wanted: string) => found.filter((one) => one === wanted).length;
  const kinds = planned.map(({ fault }) => fault?.kind);
  for (const kind of spoilingKinds) expect(count(kinds, kind)).toBeGreaterThan(sagas > 100 ? 2 : 0);
  const meddling = planned.map((saga) => saga.meddling?.how);
  for (const how of ['cancel', 'terminate', 'reset', 'reset-ended', 'start-again', 'delete', 'delete-ended']) {
    expect(count(meddling, how)).toBeGreaterThan(2);
  }
  const deaths = planned.map(({ death }) => death?.signal);
  for (const signal of ['SIGKILL', 'SIGTERM', 'SIGSTOP']) expect(count(deaths, signal)).toBeGreaterThan(2);
  expect(planned.filter(({ duplicate }) => duplicate === 'same').length).toBeGreaterThan(2);
  expect(planned.filter(({ duplicate }) => typeof duplicate === 'object').length).toBeGreaterThan(2);
  for (const how of ['crash', 'put-back', 'forgotten'] as const) {
    expect(losses.filter((loss) => loss.how === how).length).toBeGreaterThan(1);
  }
  expect(journalDeaths.length).toBeGreaterThan(2);
  const moments = losses.flatMap((loss) => (loss.how === 'put-back' ? [loss.copiedAt, loss.ended] : [loss.ended]));
  expect(moments).toEqual([...new Set(moments)].sort((one, other) => one - other));
  expect([...moments, ...journalDeaths].every((ended) => ended > 0 && ended < sagas)).toBe(true);
});

it('starts a duplicate with another request that a client would take by itself', () => {
  const schemas = requestSchemas();
  for (const { asked, duplicate } of plan.sagas) {
    if (typeof duplicate !== 'object') continue;
    expect(duplicate.other).not.toEqual(asked.request);
    expect(schemas[asked.workflow]().safeParse(duplicate.other).error).toBeUndefined();
  }
});
