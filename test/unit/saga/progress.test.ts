/** One line of the story, as the progress shows it. */
import { Progress, Step } from '../../../src/saga/progress';

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string;

it('has neither times nor a word before it begins', () => {
  expect(new Step('a', 'A').view()).toStrictEqual({ id: 'a', title: 'A', status: 'pending', attempts: 0 });
});

it('keeps its beginning through every attempt, and ends anew each time', () => {
  const step = new Step('a', 'A');
  jest.useFakeTimers({ now: 1_000 });
  step.begin('running');
  const { startedAt } = step.view();
  step.end('failed', 'refused');
  expect(step.view()).toStrictEqual({
    ...{ id: 'a', title: 'A', status: 'failed', attempts: 1, detail: 'refused' },
    ...{ startedAt, endedAt: time },
  });
  jest.setSystemTime(2_000);
  step.begin('undoing');
  expect(step.view()).toStrictEqual({
    ...{ id: 'a', title: 'A', status: 'undoing', attempts: 2, detail: 'refused' },
    startedAt,
  });
  step.end('undone');
  expect(step.view()).toStrictEqual({
    ...{ id: 'a', title: 'A', status: 'undone', attempts: 2 },
    ...{ startedAt, endedAt: new Date(2_000).toISOString() },
  });
  jest.useRealTimers();
});

it('that is stuck has not ended', () => {
  const step = new Step('a', 'A');
  step.begin('running');
  step.end('stuck', 'refused');
  expect(step.view()).not.toHaveProperty('endedAt');
});

it('is known by its id: the same one is not listed twice', () => {
  const progress = new Progress('provisionServers', 'R-1');
  const step = progress.step('a', 'A');
  expect(progress.step('b', 'B')).not.toBe(step);
  expect(progress.step('a', 'another title')).toBe(step);
  expect(progress.view().steps.map(({ title }) => title)).toEqual(['A', 'B']);
});

it('tells what was told before once, and not what this run has found', () => {
  const progress = new Progress('provisionServers', 'R-1');
  const [told, found] = [1, 2].map((item) => ({ kind: 'cart-item-unknown' as const, item, why: 'no answer' }));
  const decision = {
    decision: 'retry' as const,
    kind: 'stuck' as const,
    step: 'a',
    question: 'q',
    at: '2026-11-24T00:00:00Z',
  };
  const own = { ...decision, question: 'p' };
  for (const one of [decision, own]) progress.decide(one);
  progress.leave(found!, told!);
  progress.tellAsBefore({ leftovers: [told!], decisions: [decision] });
  expect(progress.view()).toMatchObject({ leftovers: [told], decisions: [decision, own] });
});
