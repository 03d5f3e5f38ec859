/** Servers that were bought and run without the firewalls that were asked for: told, however the saga ends. */
import { firewallsOf } from '../../../sandbox/sentences';
import type { Leftover } from '../../../src/domain/outcomes';
import { closeServers, openServers } from '../../../src/journal/servers';
import { brokenPromises } from '../../support/promises';
import { firewallsRequest, provisionRequest } from '../../support/requests';
import { rigForFile } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';
import { startRaw } from '../../support/web-ui';

const rig = rigForFile({ clears: true });

it('is told of the servers that a cancelled saga had not come to, and of no other', async () => {
  const request = provisionRequest({ items: [{ quantity: 2 }], firewalls: [143, 144] });
  const gate = rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'gate', hold: 'before', nth: 1 });
  const refusal = rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'refuse-before', status: 402, nth: 2 });
  const saga = await rig.sagas.provision(request);
  await rig.sandbox.whenStruck(gate);
  await rig.sandbox.whenStruck(refusal);
  await saga.cancel();
  rig.sandbox.faults.release(gate);
  const ended = await outcomeOf(saga);
  const open = rig.serversOf(request).filter((id) => firewallsOf(rig.sandbox.ledger, id).length === 0);
  expect(open).toHaveLength(1);
  const why = 'the saga ended: they were not assigned';
  expect(ended.cancelled?.leftovers).toEqual([
    { kind: 'server-unprotected', vmObjectId: open[0], firewalls: [143, 144], why },
  ]);
  const asked = { workflow: 'provisionServers', request } as const;
  expect(brokenPromises(rig.sandbox.ledger, asked, ended)).toEqual([]);
});

it('a cancelled run tells which firewalls of an earlier run the list does not show', async () => {
  const request = provisionRequest({ firewalls: [143, 144] });
  rig.sandbox.configure({ firewallListResponse: (ids: number[]) => ids.filter((id) => id !== 144) });
  const saga = await rig.sagas.provision(request);
  expect(await untilWaiting(saga, 'stuck')).toMatchObject({ step: expect.stringMatching(/^verify-/) });
  await rig.runOf(saga).terminate('a test');
  rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'unauthorized', times: 'all' });
  const again = await startRaw(rig, 'provisionServers', request);
  await untilWaiting(again, 'stuck');
  await again.cancel();
  const why = 'the saga ended: the provider’s list does not show them';
  const [vmObjectId] = rig.serversOf(request);
  expect((await outcomeOf(again)).cancelled?.leftovers).toEqual([
    { kind: 'server-unprotected', vmObjectId, firewalls: [144], why },
  ]);
});

describe('a server is open', () => {
  const open = async ({ reference }: { reference: string }) =>
    (await rig.withJournal((journal) => openServers(journal))).flatMap((server) =>
      server.reference === reference ? [[server.vmObjectId, server.firewalls, server.saga]] : [],
    );

  it('from its order on until its firewalls are assigned, whichever saga does it', async () => {
    const request = provisionRequest({ firewalls: [143, 144] });
    rig.sandbox.configure({ orderResponse: 'opaque' });
    const refusal = rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'unauthorized', times: 'all' });
    const saga = await rig.sagas.provision(request);
    await untilWaiting(saga, 'servers');
    expect(await open(request)).toEqual([[undefined, [143, 144], 'open']]);
    const [vmObjectId = 0] = rig.serversOf(request);
    await answer(saga, 'provideServers', { vmObjectIds: [vmObjectId] });
    await untilWaiting(saga, 'stuck');
    expect(await open(request)).toEqual([[vmObjectId, [143, 144], 'open']]);
    await answer(saga, 'skip', { note: 'later' });
    expect((await saga.result()).outcome).toBe('partly');
    expect(await open(request)).toEqual([[vmObjectId, [143, 144], 'ended']]);
    rig.sandbox.faults.lift(refusal);
    await (await rig.sagas.firewalls(firewallsRequest({ vmObjectId, assign: [143] }))).result();
    expect(await open(request)).toEqual([[vmObjectId, [144], 'ended']]);
    await (await rig.sagas.firewalls(firewallsRequest({ vmObjectId, assign: [144] }))).result();
    expect(await open(request)).toEqual([]);
  });

  it('until a person closes it, by its id or by its order; who it was is kept', async () => {
    const request = provisionRequest({ firewalls: [143] });
    rig.sandbox.configure({ orderResponse: 'opaque' });
    const saga = await rig.sagas.provision(request);
    await untilWaiting(saga, 'servers');
    await saga.cancel();
    const why = expect.stringMatching(/before the object ids/) as string;
    const leftovers = [{ kind: 'server-unprotected', firewalls: [143], why }];
    expect((await outcomeOf(saga)).cancelled?.leftovers).toEqual(leftovers);
    expect(await open(request)).toEqual([[undefined, [143], 'ended']]);
    const said = { by: 'me', note: 'deleted in the panel' };
    const close = () => rig.withJournal((journal) => closeServers(journal, { reference: request.reference }, said));
    expect([await close(), await close()]).toEqual([1, 0]);
    expect(await open(request)).toEqual([]);
    expect((await rig.recordOf(saga))?.serversClosed).toEqual([{ at: expect.any(String) as string, ...said }]);
  });
});

describe('after a termination', () => {
  const unprotected = (leftovers: readonly Leftover[] = []) =>
    leftovers.flatMap((one) => (one.kind === 'server-unprotected' ? [[one.vmObjectId, one.firewalls]] : []));
  const recorded = async ({ reference }: { reference: string }) =>
    unprotected((await rig.recordOf({ workflow: 'provisionServers', reference }))?.leftovers);
  const cleaned = async ({ reference }: { reference: string }) =>
    unprotected((await (await rig.sagas.clean(reference)).result()).leftovers);

  it('a server that no answer names is counted by the record and the clean-up', async () => {
    rig.sandbox.configure({ orderResponse: ({ vmObjectIds }) => ({ vm_object_ids: vmObjectIds.slice(0, 1) }) });
    const request = provisionRequest({ items: [{ quantity: 3 }], firewalls: [143] });
    const saga = await rig.sagas.provision(request);
    await untilWaiting(saga, 'servers');
    const [first = 0, second = 0, third = 0] = rig.serversOf(request);
    for (const vmObjectId of [second, third]) {
      const fault = { endpoint: 'assign-firewalls', kind: 'unauthorized', match: { vmObjectId } } as const;
      rig.sandbox.faults.add({ ...fault, times: 'all' });
    }
    await answer(saga, 'provideServers', { vmObjectIds: [first, second, third] });
    await untilWaiting(saga, 'stuck');
    await rig.runOf(saga).terminate('a test');
    // The refused calls tell the journal of all three; which of them was refused first is not promised.
    const both = [second, third].map((id) => [id, [143]]);
    for (const named of [await recorded(request), await cleaned(request)]) {
      expect(named).toHaveLength(both.length);
      expect(named).toEqual(expect.arrayContaining(both));
    }
  });

  it('the clean-up looks into the provider’s list', async () => {
    rig.sandbox.configure({ firewallListResponse: (ids: number[]) => ids.filter((id) => id !== 144) });
    const request = provisionRequest({ firewalls: [143, 144] });
    const saga = await rig.sagas.provision(request);
    expect((await untilWaiting(saga, 'stuck')).step).toMatch(/^verify-/);
    await rig.runOf(saga).terminate('a test');
    expect(await recorded(request)).toEqual([]);
    expect(await cleaned(request)).toEqual([[rig.serversOf(request)[0], [144]]]);
  });
});
