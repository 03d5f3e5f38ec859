/**
 * What a long queue costs: each saga looks when it comes and when its turn comes, and not in between, however many
 * there are. `ORDER_SAGA_QUEUED=200` makes it longer, and prints what it measured.
 */
import { changeOrdersOf } from '../../../sandbox/sentences';
import type { SagaHandle } from '../../../src/client/handle';
import { activitiesOf } from '../../support/events';
import { changeRequest } from '../../support/requests';
import { Rig, until } from '../../support/rig';
import { answer, progressOf, untilWaiting } from '../../support/sagas';

const queued = Number(process.env['ORDER_SAGA_QUEUED'] ?? 12);

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start();
});
afterAll(() => rig.close());

const eventsOf = async ({ workflowId }: SagaHandle) =>
  (await rig.temporal.workflow.getHandle(workflowId).fetchHistory()).events?.length ?? 0;
const looksOf = async ({ workflowId }: SagaHandle) =>
  (await activitiesOf(rig.temporal.workflow.getHandle(workflowId))).filter((name) => name.startsWith('takeTurn'))
    .length;

it('a queued saga costs the same whatever the length of the queue', async () => {
  const request = changeRequest({ approval: 'always' });
  const { subscription_id } = request;
  const first = await rig.sagas.change(request);
  await untilWaiting(first, 'approval');
  const sagas: SagaHandle[] = [];
  for (let count = 0; count < queued; count += 1)
    sagas.push(await rig.sagas.change(changeRequest({ subscription_id })));
  for (const saga of sagas) await until(async () => (await progressOf(saga)).state === 'queued');
  const whileQueued = await Promise.all(sagas.map(eventsOf));

  const beganMs = performance.now();
  await answer(first, 'approve');
  for (const saga of sagas) await saga.result();
  const tookMs = performance.now() - beganMs;
  expect(changeOrdersOf(rig.sandbox.ledger, subscription_id)).toHaveLength(queued + 1);
  const looks = await Promise.all(sagas.map(looksOf));
  const events = await Promise.all(sagas.map(eventsOf));
  if (process.env['ORDER_SAGA_QUEUED'] !== undefined) {
    const range = (values: number[]) => `${Math.min(...values)} to ${Math.max(...values)}`;
    const perSaga = `${(tookMs / queued).toFixed(0)} ms each`;
    console.log(
      `${queued} queued: events while queued ${range(whileQueued)}, at the end ${range(events)}, looks ${range(looks)}, ${perSaga}`,
    );
  }
  // It came, was told to wait, and has a timer.
  expect(Math.max(...whileQueued)).toBeLessThanOrEqual(14);
  // By the fallback after a minute where the machine is very slow.
  expect(Math.max(...looks)).toBeLessThanOrEqual(1 + Math.ceil(Math.log(1 + tookMs / 60_000) / Math.log(1.25)) + 1);
});
