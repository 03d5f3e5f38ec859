/**
 * Sweeps where payloads are encrypted: what a schedule asks is, and what a sweep starts is taken for a request of ours.
 */
import { openCartItems } from '../../../sandbox/sentences';
import { parsePayloadKeys } from '../../../src/security/keys';
import { newKey } from '../../support/codec-calls';
import { provisionRequest } from '../../support/requests';
import { Rig, until } from '../../support/rig';
import { untilWaiting } from '../../support/sagas';
import { terminate } from '../../support/terminate';

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start({ payloadKeys: parsePayloadKeys(`k1:${newKey()}`) });
});
afterAll(() => rig.close());

it('a scheduled one empties the cart of a saga that was terminated, and its report can be read', async () => {
  const request = provisionRequest();
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized', match: { label: request.label } });
  const saga = await rig.sagas.provision(request);
  await untilWaiting(saga);
  await terminate(rig.temporal, saga);
  const { sweeps } = rig.sagas;
  await sweeps.schedule(60 * 60_000, { days: 7, perSecond: 20 });
  expect((await sweeps.scheduled())?.options).toMatchObject({ days: 7, perSecond: 20 });
  const { raw } = await rig.temporal.schedule.getHandle('reconcile').describe();
  const [sent] = raw.schedule?.action?.startWorkflow?.input?.payloads ?? [];
  expect(Buffer.from(sent?.data ?? '').toString('latin1')).not.toContain('perSecond');

  await rig.temporal.schedule.getHandle('reconcile').trigger();
  const report = await until(async () => (await sweeps.latest())?.report);
  expect(report).toMatchObject({ outcome: 'found', counts: { lost: 1, 'cart-items': 1 } });
  expect(await rig.temporal.workflow.getHandle(`clean/${saga.reference}`).result()).toMatchObject({ outcome: 'done' });
  expect(openCartItems(rig.sandbox.ledger)).toEqual([]);
  await sweeps.unschedule();
});
