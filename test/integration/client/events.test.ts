/** A saga from outside: its progress as it changes, its milestones, its end, and what is decided. */
import {
  DecisionRefusedError,
  MilestoneMissedError,
  SagaCancelledError,
  SagaEndedError,
  SagaFailedError,
  SagaLostError,
  SagaWaitsError,
  UnknownReferenceError,
} from '../../../src/client/errors';
import { SagaHandle } from '../../../src/client/handle';
import type { ProgressView } from '../../../src/domain/progress';
import { changeRequest, provisionRequest, switchRequest } from '../../support/requests';
import { resetTo, taskBefore } from '../../support/web-ui';
import { rigForFile, until } from '../../support/rig';
import { answer, untilState, untilWaiting } from '../../support/sagas';

const rig = rigForFile({ clears: true });

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

async function all(saga: SagaHandle): Promise<ProgressView[]> {
  const seen: ProgressView[] = [];
  for await (const progress of saga.events()) seen.push(progress);
  return seen;
}

describe('events', () => {
  it('tell each change once, and end with the saga', async () => {
    const gate = rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'gate' });
    const saga = await rig.sagas.provision(provisionRequest({ firewalls: [143] }));
    const events = all(saga);
    await rig.sandbox.whenStruck(gate);
    rig.sandbox.faults.lift(gate);
    const seen = await events;
    expect(seen.at(-1)).toMatchObject({ state: 'done' });
    expect(seen.at(-1)?.reached.map(({ milestone }) => milestone)).toEqual(['placed', 'servers', 'protected']);
    const texts = seen.map((one) => JSON.stringify(one));
    expect(texts.filter((text, index) => text === texts[index - 1])).toEqual([]);
    expect(seen.length).toBeGreaterThan(1);
  });

  it('of one that has ended are its end', async () => {
    const saga = await rig.sagas.switch(switchRequest({ quoteOnly: true }));
    await saga.result();
    expect((await all(saga)).map(({ state }) => state)).toEqual(['done']);
  });

  it('go on in the run that a reset goes on with', async () => {
    const saga = await rig.sagas.start('switchPlan', switchRequest({ approval: 'always' }));
    const events = all(saga);
    await untilWaiting(saga, 'approval');
    await resetTo(rig.temporal, saga, await taskBefore(rig.temporal, saga, 'quotePlanSwitch'));
    await untilWaiting(saga, 'approval');
    await answer(saga, 'approve');
    expect((await events).at(-1)).toMatchObject({ state: 'done' });
  });

  it('whoever reads no more leaves no call behind, also while one waits', async () => {
    const saga = await startWaiting();
    const polls = jest.spyOn(rig.temporal.connection.workflowService, 'getWorkflowExecutionHistory');
    const events = saga.events();
    expect((await events.next()).value).toMatchObject({ state: 'approval' });
    const waiting = events.next();
    await until(() => Promise.resolve(polls.mock.calls.length >= 2));
    await events.return?.();
    expect(await waiting).toEqual({ done: true, value: undefined });
    const asked = polls.mock.calls.length;
    await answer(saga, 'reject', { reason: 'a test' });
    await untilState(saga, 'reversed');
    expect(polls.mock.calls).toHaveLength(asked);
    polls.mockRestore();
  });

  it('wait while no worker answers, and say so once', async () => {
    const saga = await startWaiting();
    const silences: string[] = [];
    const events = saga.events({ onSilence: (why) => silences.push(why) });
    let first: ReturnType<typeof events.next> | undefined;
    await rig.withoutWorkers(async () => {
      first = events.next();
      await until(() => Promise.resolve(silences.length > 0));
    });
    expect((await first)?.value).toMatchObject({ state: 'approval' });
    expect(silences).toHaveLength(1);
    await events.return?.();
    await saga.cancel();
  });

  it('of an unknown reference are an error', async () => {
    await expect(all(new SagaHandle(rig.temporal, 'switchPlan', 'nobody', '', true))).rejects.toBeInstanceOf(
      UnknownReferenceError,
    );
  });
});

describe('a milestone', () => {
  it('is told when it is reached, while the saga goes on', async () => {
    rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'unauthorized', times: 'all' });
    const saga = await rig.sagas.provision(provisionRequest({ firewalls: [143] }));
    expect(await saga.reached('placed')).toMatchObject({ milestone: 'placed' });
    const { vmObjectIds } = await saga.reached('servers');
    expect(vmObjectIds).toHaveLength(1);
    const error = await errorOf(saga.reached('protected'));
    expect(error).toBeInstanceOf(SagaWaitsError);
    expect(error).toMatchObject({ waiting: { kind: 'stuck' } });
    rig.sandbox.faults.clear();
    const later = saga.reached('protected', { throughWaits: true });
    await answer(saga, 'retry');
    expect(await later).toMatchObject({ milestone: 'protected', vmObjectIds });
  });

  it('is missed where the saga ends well without it', async () => {
    const saga = await rig.sagas.provision(provisionRequest({ firewalls: undefined }));
    const error = await errorOf(saga.reached('protected'));
    expect(error).toBeInstanceOf(MilestoneMissedError);
    expect(error).toMatchObject({ milestone: 'protected', progress: { state: 'done' } });
  });

  it('is refused or cancelled with the saga', async () => {
    const refused = await rig.sagas.start('changeOrder', changeRequest({ guard: { maxTotal: 0 } }));
    await expect(refused.reached('placed')).rejects.toBeInstanceOf(SagaFailedError);
    const cancelled = await rig.sagas.start('switchPlan', switchRequest({ approval: 'always' }));
    const placed = cancelled.reached('placed', { throughWaits: true });
    placed.catch(() => undefined);
    await untilWaiting(cancelled, 'approval');
    await cancelled.cancel();
    await expect(placed).rejects.toBeInstanceOf(SagaCancelledError);
  });
});

describe('the end', () => {
  it('of a failed saga carries its name and its report', async () => {
    const saga = await rig.sagas.start('changeOrder', changeRequest({ guard: { maxTotal: 0 } }));
    const error = await errorOf(saga.result());
    expect(error).toBeInstanceOf(SagaFailedError);
    const { workflowId } = saga;
    const message = expect.stringContaining('guard') as string;
    const report = { outcome: 'reversed', leftovers: [] };
    expect(error).toMatchObject({ type: 'GuardViolated', workflowId, report, message });
  });

  it('of a terminated one is none of the saga’s own', async () => {
    const saga = await startWaiting();
    const lost = errorOf(saga.result());
    await rig.temporal.workflow.getHandle(saga.workflowId).terminate('by hand');
    expect(await lost).toBeInstanceOf(SagaLostError);
    expect(await lost).toMatchObject({ status: 'terminated', message: expect.stringContaining('by hand') as string });
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
