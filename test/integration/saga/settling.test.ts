/** A call of unknown outcome is waited for as long as it may be in flight. */
import { orderThat } from '../../support/orders';
import { rigForFile } from '../../support/rig';
import { answer, untilWaiting } from '../../support/sagas';

/** Shorter than any look. */
const rig = rigForFile({ activities: { inFlightMs: 1 } });

it('there is one wait for each row, however long its look took: a replay may go by another time', async () => {
  const { saga } = await orderThat(rig, { endpoint: 'place-order', kind: 'reset-before' });
  await untilWaiting(saga, 'outcome-unknown');
  await answer(saga, 'confirmNotPlaced', { note: 'the panel shows none' });
  await saga.result();
  const { events = [] } = await rig.runOf(saga).fetchHistory();
  const timers = events?.flatMap(({ timerStartedEventAttributes: timer }) => timer?.startToFireTimeout ?? []) ?? [];
  // It settles, and reminds of the question.
  expect(timers.map(({ seconds }) => Number(seconds ?? 0))).toEqual([0, 3_600]);
});
