/** Texts from outside, and secrets that the provider quotes: what a saga shows of them, and what it survives. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

it('a secret by its name that is still the same hides itself, and nothing else', async () => {
  rig = await Rig.start({
    secrets: { variable: (name: string) => (name === 'SECRET_WEB_ROOT' ? 'Kh3-Zebra-771!' : undefined) },
    sandbox: { orderResponse: ({ items }) => ({ message: `created with ${items[0]?.password}` }) },
  });
  const saga = await rig.sagas.provision(
    provisionRequest({ firewalls: [], items: [{ password: { secret: 'web-root' } }] }),
  );
  expect((await saga.result()).order).toEqual({ message: 'created with [redacted]' });
});

it('half an emoji in a reason ends no worker', async () => {
  rig = await Rig.start();
  const saga = await rig.sagas.change(changeRequest({ approval: 'always' }));
  const { id } = await untilWaiting(saga, 'approval');
  await saga.decide('reject', { question: id, reason: 'no \ud83d' });
  expect((await outcomeOf(saga)).failure).toMatchObject({ type: 'NotApproved' });
  expect((await outcomeOf(await rig.sagas.change(changeRequest()))).result).toMatchObject({ outcome: 'done' });
});

it('a secret’s file may begin with a byte order mark', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'order-saga-secrets-'));
  try {
    writeFileSync(join(folder, 'web-root'), '\ufeffSup3r-secret\r\n');
    writeFileSync(join(folder, 'wide'), Buffer.from('\ufeffSup3r-secret', 'utf16le'));
    rig = await Rig.start({ secrets: { folder } });
    const bought = await rig.sagas.provision(
      provisionRequest({ firewalls: [], items: [{ password: { secret: 'web-root' } }] }),
    );
    await bought.result();
    expect(rig.sandbox.ledger.entries).toContainEqual(
      expect.objectContaining({ type: 'cartItemAdded', item: expect.objectContaining({ password: 'Sup3r-secret' }) }),
    );
    const wide = await rig.sagas.provision(provisionRequest({ items: [{ password: { secret: 'wide' } }] }));
    expect((await untilWaiting(wide, 'stuck')).question).toContain('the secret wide is in UTF-16');
    await wide.cancel();
    await outcomeOf(wide);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
