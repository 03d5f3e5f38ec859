import { switchesOf } from '../../../sandbox/sentences';
import { switchRequest } from '../../support/requests';
import { rigForFile } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';

const rig = rigForFile();

const endpointsOf = ({ subscription_id }: { subscription_id: number }) =>
  rig.sandbox.ledger.calls
    .filter(({ names }) => names.subscriptionId?.includes(subscription_id))
    .map(({ endpoint }) => endpoint);
const switches = ({ subscription_id }: { subscription_id: number }) => switchesOf(rig.sandbox.ledger, subscription_id);
const switchFault = ({ subscription_id }: { subscription_id: number }, fault: object) =>
  rig.sandbox.faults.add({ endpoint: 'switch-plan', match: { subscriptionId: subscription_id }, ...fault } as never);

it('quotes, then switches', async () => {
  const request = switchRequest();
  const result = await (await rig.sagas.switch(request)).result();
  expect(result).toMatchObject({ placed: true, quote: { total: 31 }, finalQuote: { total: 31 }, decisions: [] });
  expect(switches(request)).toMatchObject([{ planId: 21 }]);
});

it('does not switch to what is not available', async () => {
  const request = switchRequest({ plan_id: 99 });
  rig.sandbox.configure({ unavailablePlans: [99] });
  expect((await outcomeOf(await rig.sagas.switch(request))).failure?.type).toBe('SwitchNotAvailable');
  expect(endpointsOf(request)).toEqual(['quote-plan-switch']);
});

it('tells when the switch was made at other terms than quoted', async () => {
  const request = switchRequest();
  const quote = { available: true, total: 32, currency: 'usd', date_from: '2026-01-01', date_to: '2026-02-01' };
  switchFault(request, { kind: 'other-body', body: quote });
  const saga = await rig.sagas.switch(request);
  expect(await saga.result()).toMatchObject({ quote: { total: 31 }, finalQuote: { total: 32 } });
  expect((await saga.progress()).steps.at(-1)?.detail).toBe(
    'switched on other terms: 32 usd, 2026-01-01 to 2026-02-01',
  );
});

it('asks when the switch itself is answered with “not available”: it may be so because it took effect', async () => {
  rig.sandbox.configure({ switchAnswersAvailable: false });
  try {
    const request = switchRequest();
    const saga = await rig.sagas.switch(request);
    expect(await untilWaiting(saga)).toMatchObject({ kind: 'outcome-unknown', step: 'switch-plan' });
    expect(switches(request)).toHaveLength(1);
    await answer(saga, 'confirmPlaced', { note: 'the panel shows plan 21' });
    expect(await saga.result()).toMatchObject({ placed: true });
    expect(switches(request)).toHaveLength(1);
  } finally {
    rig.sandbox.configure({ switchAnswersAvailable: true });
  }
});

it('never switches twice: an answer that cannot be read is asked about', async () => {
  const request = switchRequest();
  switchFault(request, { kind: 'other-body', body: { switched: true } });
  const saga = await rig.sagas.switch(request);
  expect(await untilWaiting(saga)).toMatchObject({ kind: 'outcome-unknown', step: 'switch-plan' });
  await answer(saga, 'confirmPlaced', { note: 'the panel shows plan 21' });
  expect(await saga.result()).toMatchObject({ placed: true });
  expect(switches(request)).toHaveLength(1);
});
