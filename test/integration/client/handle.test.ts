/** A saga from outside: how it ends, what is decided, what can go wrong on the way to it. */
import {
  DecisionRefusedError,
  NoWorkerError,
  SagaEndedError,
  SagaFailedError,
  SagaLostError,
} from '../../../src/client/errors';
import { changeRequest, switchRequest } from '../../support/requests';
import { Rig } from '../../support/rig';
import { answer, untilWaiting } from '../../support/sagas';
import { bareNamespace, type BareNamespace } from './bare-namespace';

let rig: Rig;
let bare: BareNamespace;
beforeAll(async () => {
  [rig, bare] = await Promise.all([Rig.start(), bareNamespace()]);
});
afterAll(async () => {
  await rig.close();
  await bare.connection.close();
});

async function startWaiting() {
  const saga = await rig.sagas.start('switchPlan', switchRequest({ approval: 'always' }));
  await untilWaiting(saga, 'approval');
  return saga;
}

const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('the end', () => {
  it('is a typed result', async () => {
    const request = switchRequest({ quoteOnly: true });
    const saga = await rig.sagas.switch(request);
    const { placed, quote } = await saga.result();
    expect({ placed, currency: quote!.currency }).toEqual({ placed: false, currency: 'usd' });
    expect(await saga.progress()).toMatchObject({ state: 'done', reference: request.reference });
  });

  it('of a failed saga carries its name and its report', async () => {
    const saga = await rig.sagas.start('changeOrder', changeRequest({ guard: { maxTotal: 0 } }));
    const error = await errorOf(saga.result());
    expect(error).toBeInstanceOf(SagaFailedError);
    expect(error).toMatchObject({
      type: 'GuardViolated',
      workflowId: saga.workflowId,
      report: { outcome: 'reversed', leftovers: [] },
    });
    expect((error as Error).message).toContain('guard');
  });

  it('of a terminated one is none of the saga’s own', async () => {
    const saga = await startWaiting();
    const lost = errorOf(saga.result());
    await rig.temporal.workflow.getHandle(saga.workflowId).terminate('by hand');
    expect(await lost).toBeInstanceOf(SagaLostError);
    expect(await lost).toMatchObject({ status: 'terminated' });
    expect(((await lost) as Error).message).toContain('by hand');
  });
});

describe('a decision', () => {
  it('that does not fit is refused with the ones that do, and changes nothing', async () => {
    const saga = await startWaiting();
    const error = await errorOf(answer(saga, 'retry'));
    expect(error).toBeInstanceOf(DecisionRefusedError);
    expect((error as Error).message).toMatch(/approve, reject/);
    expect((await saga.progress()).waiting).toBeDefined();
    await answer(saga, 'reject');
    expect(await errorOf(saga.result())).toMatchObject({ type: 'NotApproved' });
  });

  it('for another question is refused, and changes nothing', async () => {
    const saga = await startWaiting();
    const { id } = await untilWaiting(saga);
    const error = await errorOf(saga.decide('approve', { question: 'an-older-one' }));
    expect(error).toBeInstanceOf(DecisionRefusedError);
    expect((error as Error).message).toContain(`question an-older-one is not the one that waits now, which is ${id}`);
    expect((await saga.progress()).waiting).toMatchObject({ id, kind: 'approval' });
    await saga.decide('approve', { question: id });
    expect(await saga.result()).toMatchObject({ placed: true, decisions: [{ decision: 'approve', question: id }] });
  });
});

describe('after the end', () => {
  it('nothing is decided and nothing cancelled; progress goes on answering', async () => {
    const saga = await rig.sagas.start('switchPlan', switchRequest({ quoteOnly: true }));
    await saga.result();
    expect(await errorOf(answer(saga, 'retry'))).toBeInstanceOf(SagaEndedError);
    expect(await errorOf(saga.cancel())).toBeInstanceOf(SagaEndedError);
    expect((await saga.progress()).state).toBe('done');
    expect((await saga.describe()).status.name).toBe('COMPLETED');
  });
});

it('says that no worker answers, and loses nothing', async () => {
  const saga = await bare.sagas.start('switchPlan', switchRequest());
  expect(await errorOf(saga.progress({ withinMs: 200 }))).toBeInstanceOf(NoWorkerError);
  expect((await saga.describe()).status.name).toBe('RUNNING');
});
