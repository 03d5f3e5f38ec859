/** A change order or a switch that the provider refuses, and a person is asked about. */
import { changeOrdersOf, switchesOf } from '../../../sandbox/sentences';
import type { SagaHandle } from '../../../src/client/handle';
import { changeRequest, switchRequest } from '../../support/requests';
import { rigForFile } from '../../support/rig';
import { answer, untilWaiting } from '../../support/sagas';

const unavailablePlan = 404;

const rig = rigForFile({
  sandbox: {
    unavailableResources: ['china_route'],
    unavailablePlans: [unavailablePlan],
    planPrices: { '21': 10, '22': 10, '23': 99 },
  },
});

const resources = (resource_name: string, delta_value: string | number = '1') => [{ resource_name, delta_value }];
const changesOf = ({ subscription_id }: { subscription_id: number }) =>
  changeOrdersOf(rig.sandbox.ledger, subscription_id);
const switchedBy = ({ subscription_id }: { subscription_id: number }) =>
  switchesOf(rig.sandbox.ledger, subscription_id);

describe('a change order', () => {
  const start = (
    changes: object = {},
  ): { request: ReturnType<typeof changeRequest>; begin: () => Promise<SagaHandle<'changeOrder'>> } => {
    const request = changeRequest({ onRefusal: 'ask', ...changes });
    return { request, begin: () => rig.sagas.change(request) };
  };

  it('that is not available is corrected', async () => {
    const { request, begin } = start({ resources: resources('china_route') });
    const saga = await begin();
    const waiting = await untilWaiting(saga);
    expect(waiting).toMatchObject({ kind: 'refused', step: 'quote', choices: ['retry'] });
    expect(waiting.question).toBe(
      'Refused: “Quote the change order” was not done. The provider says that it is not available. ' +
        'Retry with a correction, or as it is; or request cancellation.',
    );
    // A number is sent as the numeric string that it is.
    await answer(saga, 'retry', { correction: { resources: resources('vm_backup', 2) } });
    expect(await saga.result()).toMatchObject({ outcome: 'done', quote: { total: 10 } });
    expect(changesOf(request)).toMatchObject([{ resources: resources('vm_backup', '2') }]);
  });
});

describe('a switch', () => {
  it('to a plan that is not available goes to another one', async () => {
    const request = switchRequest({ onRefusal: 'ask', plan_id: unavailablePlan });
    const saga = await rig.sagas.switch(request);
    await untilWaiting(saga, 'refused');
    await expect(answer(saga, 'retry', { correction: { plan_id: 0 } })).rejects.toThrow(
      'plan_id: must be a whole number above 0',
    );
    await answer(saga, 'retry', { correction: { plan_id: 22 } });
    expect((await saga.result()).outcome).toBe('done');
    expect(switchedBy(request)).toMatchObject([{ planId: 22 }]);
  });
});
