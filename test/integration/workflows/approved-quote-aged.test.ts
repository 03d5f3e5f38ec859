/** What was agreed to grows old: quotes while a pivot is tried again, approvals that nobody gives. */
import { changeOrdersOf } from '../../../sandbox/sentences';
import { changeRequest, planIdOf, provisionRequest, switchRequest } from '../../support/requests';
import { rigForFile } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';

/** Longer than a quote and a pivot take on a busy machine, and shorter than the provider asks to wait. */
const quoteMaxAgeMs = 4_000;
const retryAfter = 5;

const rig = rigForFile({ activities: { quoteMaxAgeMs } });

type Change = ReturnType<typeof changeRequest>;
const changesOf = ({ subscription_id }: Change) => changeOrdersOf(rig.sandbox.ledger, subscription_id);

describe('a quote that is too old when the pivot is tried again', () => {
  const price = (vm_backup: number) => {
    rig.sandbox.configure({ resourcePrices: { vm_backup } });
  };
  afterEach(() => {
    price(5);
  });

  /** Its first change order is put off. */
  function slowedDown(changes: object) {
    const request = changeRequest({ ...changes });
    const match = { subscriptionId: request.subscription_id };
    const slowed = rig.sandbox.faults.add({ endpoint: 'place-change-order', kind: 'rate-limit', retryAfter, match });
    return { request, slowed };
  }

  it('and that breaks the guard by now places nothing', async () => {
    const { request, slowed } = slowedDown({ guard: { maxTotal: 5 } });
    const saga = await rig.sagas.change(request);
    await rig.sandbox.whenStruck(slowed);
    price(6);
    expect((await outcomeOf(saga)).failure).toMatchObject({
      type: 'GuardViolated',
      report: { leftovers: [], steps: [{ id: 'quote' }, { id: 'place-change-order', status: 'failed' }] },
    });
    expect(changesOf(request)).toEqual([]);
  });

  it('is asked about where it is another one than was approved', async () => {
    const { request, slowed } = slowedDown({ approval: 'always' });
    const saga = await rig.sagas.change(request);
    await untilWaiting(saga, 'approval');
    await answer(saga, 'approve');
    await rig.sandbox.whenStruck(slowed);
    price(6);
    expect((await untilWaiting(saga, 'approval')).question).toMatch(/^Approve 6 usd.* The approved quote, 5 usd/s);
    await answer(saga, 'approve');
    expect(await saga.result()).toMatchObject({ quote: { total: 6 } });
  });
});

describe('an approval that expires', () => {
  it.each([
    ['a change', { expiresAfterSeconds: 1 }],
    ['a change above a total', { above: 1, expiresAfterSeconds: 1 }],
  ])('is rejected: %s', async (_, approval) => {
    const request = changeRequest({ approval });
    const { failure } = await outcomeOf(await rig.sagas.change(request));
    expect(failure).toMatchObject({
      type: 'NotApproved',
      report: { decisions: [{ decision: 'reject', kind: 'approval', question: expect.any(String) as string }] },
    });
    expect(failure?.report.why).toMatch(/^rejected: nobody answered until .* UTC$/);
    expect(changesOf(request)).toEqual([]);
  });

  it('is rejected: a purchase, and nothing was sent', async () => {
    const request = provisionRequest({ approval: { expiresAfterSeconds: 1 } });
    const { failure } = await outcomeOf(await rig.sagas.provision(request));
    expect(failure).toMatchObject({ type: 'NotApproved', report: { leftovers: [] } });
    const planId = planIdOf(request.reference);
    expect(rig.sandbox.ledger.calls.filter(({ names }) => names.planId?.includes(planId))).toEqual([]);
  });

  it('says until when it can be given', async () => {
    const saga = await rig.sagas.switch(switchRequest({ approval: { expiresAfterSeconds: 86_400 } }));
    const { question, since, expiresAt } = await untilWaiting(saga, 'approval');
    expect(Date.parse(expiresAt!) - Date.parse(since)).toBe(86_400_000);
    expect(question).toMatch(/ Without an answer it is rejected on .* UTC\.$/);
    await answer(saga, 'approve');
    expect(await saga.result()).toMatchObject({ decisions: [{ decision: 'approve' }] });
  });

  it('is not asked for where the limit is kept', async () => {
    const request = changeRequest({ approval: { above: 5, expiresAfterSeconds: 1 } });
    await (await rig.sagas.change(request)).result();
    expect(changesOf(request)).toHaveLength(1);
  });
});
