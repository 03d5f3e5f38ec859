/** An event in the moment in which a hand-over ends is handed over too, and does not wait for the next one. */
import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { Notified } from '../../../src/activities/notifications';
import { Notices } from '../../../src/saga/shown/notices';
import type { Progress } from '../../../src/saga/shown/progress';

const mockTell = jest.fn<Promise<void>, [Notified]>();
jest.mock('../../../src/saga/activities', () => ({ telling: () => ({ tell: mockTell }) }));
jest.mock('@temporalio/workflow', () => {
  const workflow = jest.requireActual<object>('@temporalio/workflow');
  // As the SDK's, where nothing is cancelled.
  class CancellationScope {
    static nonCancellable = <T>(work: () => Promise<T>) => work();
    async run<T>(work: () => Promise<T>): Promise<T> {
      return await work();
    }
  }
  return { ...workflow, CancellationScope, uuid4: randomUUID };
});

it.each(Array.from({ length: 10 }, (_, ticks) => ticks))('so many ticks after its answer: %i', async (ticks) => {
  const notices = new Notices({ state: 'stuck' } as Progress);
  let answer: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => (answer = resolve));
  mockTell.mockReset().mockReturnValueOnce(answered).mockResolvedValue();
  notices.tell('waiting', {});
  answer();
  for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
  notices.tell('settled', {});
  await setImmediate();
  const told = mockTell.mock.calls.map(([{ events }]) => events.map(({ event }) => event));
  expect(told).toEqual([['waiting'], ['settled']]);
});
