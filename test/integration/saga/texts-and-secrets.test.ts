/** Texts from outside, and secrets that the provider quotes: what a saga shows of them, and what it survives. */
import { changeRequest, provisionRequest } from '../../support/requests';
import { Rig } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';

let rig: Rig | undefined;
afterEach(async () => {
  await rig?.close();
  rig = undefined;
});

it('a secret by its name that was rotated between cart and order is not shown', async () => {
  let value = 'Kh3-Zebra-771!';
  rig = await Rig.start({
    secrets: { variable: (name: string) => (name === 'SECRET_WEB_ROOT' ? value : undefined) },
    sandbox: {
      orderResponse: ({ items, vmObjectIds }) => ({
        vm_object_ids: vmObjectIds,
        message: `created, log in as root with ${items[0]?.password}`,
      }),
    },
  });
  const request = provisionRequest({ items: [{ password: { secret: 'web-root' } }] });
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized' });
  const saga = await rig.sagas.provision(request);
  await untilWaiting(saga, 'stuck');
  value = 'Qm9!Lotus#42x';
  await rig.replaceWorkers({});
  await answer(saga, 'retry');
  const { order } = await saga.result();
  expect(JSON.stringify(order)).not.toContain('Zebra');
  expect(order).toMatchObject({ vm_object_ids: [expect.any(Number)] });
});

it('half an emoji in a reason ends no worker', async () => {
  rig = await Rig.start();
  const saga = await rig.sagas.change(changeRequest({ approval: 'always' }));
  const { id } = await untilWaiting(saga, 'approval');
  await saga.decide('reject', { question: id, reason: 'no \ud83d' });
  expect((await outcomeOf(saga)).failure).toMatchObject({ type: 'NotApproved' });
  expect((await outcomeOf(await rig.sagas.change(changeRequest()))).result).toMatchObject({ outcome: 'done' });
});
