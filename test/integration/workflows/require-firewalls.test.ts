/** The operator's rule for servers that are bought without firewalls. */
import { provisionRequest } from '../../support/requests';
import { Rig } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';

const withRule = async (requireFirewalls: 'ask' | 'refuse', work: (rig: Rig) => Promise<void>) => {
  const rig = await Rig.start({ activities: { requireFirewalls } });
  try {
    await work(rig);
  } finally {
    await rig.close();
  }
};

it('refuses them before anything is in the cart', () =>
  withRule('refuse', async (rig) => {
    const bare = provisionRequest({ firewalls: undefined });
    const { failure } = await outcomeOf(await rig.sagas.provision(bare));
    expect(failure).toMatchObject({ type: 'GuardViolated', report: { outcome: 'reversed', leftovers: [] } });
    expect(rig.sandbox.ledger.calls).toEqual([]);
    const { result } = await outcomeOf(await rig.sagas.provision(provisionRequest({ firewalls: [143] })));
    expect(result).toMatchObject({ outcome: 'done' });
  }));

it('has a person approve them', () =>
  withRule('ask', async (rig) => {
    const saga = await rig.sagas.provision(provisionRequest({ firewalls: undefined }));
    const waiting = await untilWaiting(saga, 'approval');
    expect(waiting.question).toContain('It names no firewalls');
    expect(rig.sandbox.ledger.calls).toEqual([]);
    await answer(saga, 'approve');
    expect(await saga.result()).toMatchObject({ outcome: 'done' });
  }));
