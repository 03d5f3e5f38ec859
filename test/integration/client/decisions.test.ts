/** A decision counts once, however often it is sent; who comes too late is told which one stands. */
import { DecisionRefusedError } from '../../../src/client/errors';
import { provisionRequest } from '../../support/requests';
import { rigForFile, until } from '../../support/rig';
import { answer, outcomeOf, progressOf, untilWaiting } from '../../support/sagas';
import { stuckOrder } from '../../support/orders';

const rig = rigForFile({ clears: true });
const said = { by: 'ann', note: 'looked' };

it('the same decision is answered with what it came to, also after the end', async () => {
  const { saga, waiting } = await stuckOrder(rig);
  const { id: question, since } = waiting;
  rig.sandbox.faults.clear();
  const body = { question, by: 'ann' };
  const taken = await saga.decide('retry', body);
  expect(taken).toEqual({ taken: 'retry', step: waiting.step });
  await saga.result();
  expect(await saga.decide('retry', { by: 'ann', question }, { since })).toEqual(taken);
  expect((await progressOf(saga)).decisions).toHaveLength(1);
});

it('who decides too late is told which decision stands', async () => {
  const { saga, waiting } = await stuckOrder(rig);
  const { id: question, since } = waiting;
  rig.sandbox.faults.clear();
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized', times: 'all' });
  const body = { question, by: 'ann' };
  const ofNobody = rig.temporal.workflow.getHandle(saga.workflowId).executeUpdate('retry', { args: [{ question }] });
  await expect(ofNobody).rejects.toMatchObject({
    cause: { message: expect.stringMatching(/^retry: by: is required/) },
  });
  await saga.decide('retry', body);
  const later = new Date(Date.parse(since) + 1).toISOString();
  const late = [
    ['retry', body, { since: later }],
    ['retry', { question, by: 'bob' }, { since }],
    ['skip', { question, by: 'bob', note: 'it goes' }, { since }],
  ] as const;
  for (const [name, again, asked] of late) {
    const refused = await saga.decide(name, again, asked).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(DecisionRefusedError);
    expect(refused).toMatchObject({
      movedOn: true,
      message: expect.stringContaining(`Question ${question} was answered: retry by ann`) as string,
    });
  }
  await until(async () => (await progressOf(saga)).waiting !== undefined);
  await saga.cancel(said);
  await outcomeOf(saga);
});

it('no digest of a secret stands in the history', async () => {
  const { saga, waiting } = await stuckOrder(rig, {}, 'add-cart-item');
  rig.sandbox.faults.clear();
  await saga.decide('retry', { question: waiting.id, by: 'ann', correction: { password: 'a-Secret-9' } });
  await saga.result();
  const { events } = await rig.runOf(saga).fetchHistory();
  const ids = (events ?? []).flatMap(
    (event) => event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.meta?.updateId ?? [],
  );
  expect(ids).toEqual([expect.not.stringContaining(waiting.id)]);
});

describe('a cancellation that names the question which somebody has read', () => {
  async function approvable(account: string) {
    const saga = await rig.sagas.provision(provisionRequest({ account, firewalls: [143], approval: 'always' }));
    return { saga, question: (await untilWaiting(saga, 'approval')).id };
  }

  it('does not cancel a saga that asks another question by now', async () => {
    const { saga, question } = await approvable('GH-1');
    rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'unauthorized', times: 'all' });
    await answer(saga, 'approve', { by: 'bob' });
    await untilWaiting(saga, 'stuck');
    await expect(saga.cancel({ ...said, question })).rejects.toMatchObject({ movedOn: true });
    expect((await progressOf(saga)).state).toBe('stuck');
  });

  it('keeps the question for it, when somebody answers in that moment', async () => {
    const { saga, question } = await approvable('GH-3');
    const look = jest.spyOn(saga, 'progress');
    let approved: unknown;
    look.mockImplementationOnce(async () => {
      look.mockRestore();
      // In one task with the signal, the approval would count more.
      await saga.progress();
      approved = await saga.decide('approve', { question, by: 'bob' }).catch((error: unknown) => error);
      return saga.progress();
    });
    await saga.cancel({ ...said, question });
    expect(approved).toMatchObject({ message: expect.stringContaining('ann is about to cancel it') as string });
    expect((await outcomeOf(saga)).cancelled).toMatchObject({ why: 'cancelled, says ann: looked' });
  });

  it('counts less than an approval that comes in the same task, at a replay too', async () => {
    const { saga, question } = await approvable('GH-5');
    const handle = rig.runOf(saga);
    let approving: Promise<unknown> | undefined;
    await rig.withoutWorkers(async () => {
      approving = handle.executeUpdate('approve', { args: [{ question, by: 'bob' }] });
      await handle.signal('cancelledBy', { question, ...said, token: 'a token' });
    });
    expect(await approving).toMatchObject({ taken: 'approve' });
    expect((await saga.result()).outcome).toBe('done');
  });
});
