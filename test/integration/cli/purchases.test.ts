/** What was bought, as a finance team asks the journal for it: without Temporal. */
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';
import { changeRequest, provisionRequest } from '../../support/requests';
import { rigForFile } from '../../support/rig';
import { runCommand } from '../../support/command-line';

const rig = rigForFile({ clears: true });

const purchases = (...args: string[]) =>
  runCommand(['purchases', ...args], { JOURNAL_URL: rig.environment['JOURNAL_URL']! });

it('tells what was bought, what is unknown, what was refused, and who approved it', async () => {
  const placed = provisionRequest({ reference: 'PO-1', account: 'AB-1', metadata: { requester: 'eve', ticket: '7' } });
  const { servers } = await (await rig.sagas.provision(placed)).result();
  const vmObjectId = servers[0]!.vmObjectId;
  const change = await rig.sagas.start('changeOrder', changeRequest({ reference: 'CH-1', approval: 'always' }));
  await untilWaiting(change, 'approval');
  await answer(change, 'approve', { by: '=ann, of finance' });
  await change.result();
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'refuse-before', nth: 1 });
  await outcomeOf(await rig.sagas.provision(provisionRequest({ reference: 'PO-2', account: 'AB-1' })));
  rig.sandbox.faults.clear();
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'reset-after', nth: 1 });
  const unknown = await rig.sagas.provision(provisionRequest({ reference: 'PO-3', account: 'CD-2' }));
  await untilWaiting(unknown, 'outcome-unknown');

  const all = await purchases('--format', 'json');
  expect(all.status).toBe(0);
  expect(JSON.parse(all.out)).toMatchObject([
    {
      ...{ reference: 'PO-1', account: 'AB-1', fate: 'placed', servers: 1, vmObjectIds: [vmObjectId], ended: 'done' },
      metadata: { requester: 'eve', ticket: '7' },
    },
    { reference: 'CH-1', fate: 'placed', total: expect.any(Number) as number, by: ['=ann, of finance'] },
    { reference: 'PO-2', fate: 'not-placed', ended: 'OrderRejected' },
    { reference: 'PO-3', fate: 'unknown', account: 'CD-2' },
  ]);
  const referencesOf = async (...args: string[]) =>
    (JSON.parse((await purchases('--json', ...args)).out) as { reference: string }[]).map(({ reference }) => reference);
  expect(await referencesOf('--account', 'ab-1')).toEqual(['PO-1', 'PO-2']);
  expect(await referencesOf('--outcome', 'unknown')).toEqual(['PO-3']);
  expect(await referencesOf('--server', String(vmObjectId))).toEqual(['PO-1']);
  expect(await referencesOf('--since', '1h', '--outcome', 'placed')).toEqual(['PO-1', 'CH-1']);
  expect(await referencesOf('--until', '2026-01-01')).toEqual([]);

  const { out: csv } = await purchases('--format', 'csv');
  const lines = csv.trimEnd().split('\r\n');
  expect(lines).toHaveLength(5);
  expect(lines[1]).toMatch(/,"eve",.*,"requester=eve; ticket=7"$/);
  expect(lines[2]).toContain(`"'=ann, of finance"`);
  const { out: table } = await purchases();
  expect(table).toMatch(/^sent .*outcome/);
  expect(table.trimEnd().split('\n')).toHaveLength(5);
});
