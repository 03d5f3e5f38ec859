/** What a saga that was let go says of the provider, and how large and how far apart probes are. */
import type { ProgressView } from '../../../src/domain/progress';
import { lastSignOf, probePauseMs, probeSize, signOf, verdictOf } from '../../../src/domain/hold-probe';

type Shown = Pick<ProgressView, 'state' | 'steps' | 'waiting'>;
type Status = ProgressView['steps'][number]['status'];

const step = (id: string, status: Status, attempts = 1) => ({ id, title: id, status, attempts });
const waits = (kind: NonNullable<ProgressView['waiting']>['kind'], failure?: string): Partial<Shown> => ({
  state: kind,
  waiting: {
    id: 'q',
    kind,
    step: 's',
    question: '',
    choices: [],
    since: '2026-01-01T00:00:00Z',
    ...(failure === undefined
      ? {}
      : { lastFailure: { failure: failure as 'NotSent', whose: 'provider', message: '' } }),
  },
});
const taken = step('take-reference', 'done', 3);
const added = step('add-item-1', 'done');

it.each<[string, Partial<Shown>, string, string]>([
  ['was served', { state: 'done', steps: [taken, added] }, 'answered', 'answered'],
  [
    'was refused, and has ended',
    { state: 'reversed', steps: [taken, step('add-item-1', 'failed')] },
    'answered',
    'answered',
  ],
  ['was refused, and asks', { ...waits('refused', 'Rejected') }, 'answered', 'answered'],
  ['is slowed down', { ...waits('stuck', 'RateLimited') }, 'answered', 'answered'],
  ['has added an item, and asks for a price', { ...waits('approval'), steps: [added] }, 'answered', 'answered'],
  ['got no answer', { ...waits('stuck', 'UnknownOutcome'), steps: [added] }, 'unanswered', 'unanswered'],
  ['was not sent', { ...waits('stuck', 'NotSent') }, 'unanswered', 'unanswered'],
  [
    'does not know what became of its order',
    { ...waits('outcome-unknown'), steps: [added] },
    'unanswered',
    'unanswered',
  ],
  ['asks before it calls', { ...waits('over-limit') }, 'silent', 'silent'],
  ['is held again', { ...waits('held', 'Held'), steps: [step('take-reference', 'stuck')] }, 'silent', 'silent'],
  ['has trouble with our journal', { ...waits('stuck', 'JournalUnavailable') }, 'silent', 'silent'],
  ['is queued', { state: 'queued', steps: [taken, step('take-turn', 'running')] }, 'silent', 'silent'],
  ['was cancelled before it called', { state: 'reversed', steps: [taken] }, 'silent', 'silent'],
  ['did nothing', { state: 'untouched' }, 'silent', 'silent'],
  ['is on its way', { steps: [taken, added, step('place-order', 'running')] }, 'open', 'answered'],
  ['tries again', { steps: [taken, added, step('place-order', 'running', 2)] }, 'open', 'unanswered'],
  [
    'has waited all the time for its first answer',
    { steps: [taken, step('add-item-1', 'running')] },
    'open',
    'unanswered',
  ],
  ['undoes what it did', { state: 'undoing', steps: [step('add-item-1', 'undoing', 2)] }, 'open', 'answered'],
])('one that %s', (_what, shown, sign, last) => {
  const progress: Shown = { state: 'running', steps: [], ...shown };
  expect([signOf(progress), lastSignOf(progress)]).toEqual([sign, last]);
});

it('passes when most of those that called were answered', () => {
  const verdicts = (
    [
      [3, 0],
      [2, 1],
      [1, 1],
      [0, 1],
      [0, 0],
    ] as const
  ).map(([answered, unanswered]) => verdictOf({ answered, unanswered }));
  expect(verdicts).toEqual(['passed', 'passed', 'failed', 'failed', 'silent']);
});

it('grows while it passes, and waits longer while it fails; both have an end', () => {
  const plan = { first: 3, pauseMs: 60_000 };
  expect([0, 1, 2, 3, 9].map((passed) => probeSize(plan, passed))).toEqual([3, 12, 48, 100, 100]);
  const minutes = [0, 1, 2, 4, 5, 1_000].map((failed) => probePauseMs(plan, failed) / 60_000);
  expect(minutes).toEqual([1, 2, 4, 16, 30, 30]);
  expect(probePauseMs({ first: 1, pauseMs: 3_600_000 }, 5)).toBe(3_600_000);
});
