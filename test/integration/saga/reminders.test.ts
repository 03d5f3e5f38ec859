/**
 * Waiting costs nothing. A year of it, or ten, is seen by making the clock's steps small: the same workflow code, with
 * reminders that come after milliseconds instead of hours, and as many of them as a year has.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleWorkflows } from '../../../scripts/workflow-bundle';
import { reminderDelaysMs } from '../../../src/saga/reminders';
import { itInWays } from '../../support/left-out';
import { provisionRequest } from '../../support/requests';
import { Rig, until } from '../../support/rig';
import { answer, untilWaiting } from '../../support/sagas';

const dayMs = 24 * 60 * 60 * 1000;

function remindersWithin(totalMs: number): number[] {
  const delays: number[] = [];
  let sum = 0;
  for (const delayMs of reminderDelaysMs()) {
    sum += delayMs;
    if (sum > totalMs) return delays;
    delays.push(delayMs);
  }
  throw new Error('reminders never end');
}

it('reminds after an hour, then ever more seldom, and never stops', () => {
  const [first, second, third] = remindersWithin(10 * dayMs);
  expect([first, second, third]).toEqual([1, 4, 16].map((hours) => hours * 60 * 60 * 1000));
  expect(remindersWithin(365 * dayMs)).toHaveLength(7);
  expect(remindersWithin(3650 * dayMs).length).toBeGreaterThan(20);
});

itInWays.each([
  [1, 140],
  [10, 350],
])('a run that waits %d years stays fewer than %d events long', async (years, eventsMax) => {
  const folder = mkdtempSync(join(tmpdir(), 'order-saga-'));
  const bundle = join(folder, 'bundle.js');
  const reminders = remindersWithin(years * 365 * dayMs).length;
  const hasty = join(folder, 'reminders.js');
  // As many quick ones as those years have, then none for a day.
  writeFileSync(
    hasty,
    `exports.reminderDelaysMs = function* () { for (let n = 0; n < ${reminders}; n += 1) yield 10; for (;;) yield ${dayMs}; };`,
  );
  writeFileSync(
    bundle,
    await bundleWorkflows({ instead: { [require.resolve('../../../src/saga/reminders')]: hasty } }),
  );
  const rig = await Rig.start({ bundle });
  try {
    const request = provisionRequest({ items: [{}, {}] });
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized' });
    const saga = await rig.sagas.provision(request);
    const handle = rig.temporal.workflow.getHandle(saga.workflowId);
    const { since } = await untilWaiting(saga);
    const fired = async () => {
      const { events } = await handle.fetchHistory();
      return (events ?? []).filter((event) => event.timerFiredEventAttributes).length;
    };
    await until(async () => (await fired()) === reminders);
    const { events } = await handle.fetchHistory();
    expect(events?.length).toBeLessThan(eventsMax);
    const { waiting } = await saga.progress();
    expect(waiting?.since).toBe(since);
    await answer(saga, 'retry');
    await saga.result();
  } finally {
    await rig.close();
    rmSync(folder, { recursive: true });
  }
});
