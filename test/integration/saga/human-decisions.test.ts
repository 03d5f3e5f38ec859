/**
 * Where a saga waits for a person: what they read, what they get back, and what becomes of a decision that does not
 * fit.
 */
import type { temporal } from '@temporalio/proto';
import type { SagaHandle } from '../../../src/client/handle';
import { decisionHints, decisionNames, type DecisionName } from '../../../src/domain/decisions';
import { describeInWays, itInWays } from '../../support/left-out';
import { planIdOf, provisionRequest, switchRequest } from '../../support/requests';
import { Rig, until } from '../../support/rig';
import { answer, untilWaiting } from '../../support/sagas';

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start();
});
afterAll(() => rig.close());
afterEach(() => {
  rig.sandbox.faults.clear();
});

const runOf = ({ workflowId }: { workflowId: string }) => rig.temporal.workflow.getHandle(workflowId);

/** A saga that waits at its order. */
async function stuck() {
  const request = provisionRequest();
  rig.sandbox.faults.add({
    endpoint: 'place-order',
    kind: 'unauthorized',
    times: 'all',
    match: { label: request.label },
  });
  const saga = await rig.sagas.provision(request);
  return { saga, waiting: await untilWaiting(saga, 'stuck') };
}

type Metadata = temporal.api.sdk.v1.IWorkflowMetadata;
const metadataOf = (saga: { workflowId: string }) => runOf(saga).query<Metadata>('__temporal_workflow_metadata');

it('says of each decision what it does and what to paste, and of the query what it answers', async () => {
  const { saga } = await stuck();
  const { definition } = await metadataOf(saga);
  type Definitions = { name?: string | null; description?: string | null }[] | null | undefined;
  const described = (list: Definitions): Record<string, unknown> =>
    Object.fromEntries((list ?? []).map(({ name, description }) => [name ?? '', description]));
  const hints = Object.fromEntries(
    decisionNames.map((name) => [name, `${decisionHints[name].does}. ${decisionHints[name].example}`]),
  );
  expect(described(definition?.updateDefinitions)).toEqual(hints);
  const others = {
    cancelledBy: 'Who cancels the saga, and why. Sent by the command line before the cancellation',
  };
  expect(described(definition?.signalDefinitions)).toEqual({ ...hints, ...others });
  expect(described(definition?.queryDefinitions)).toMatchObject({
    progress: 'State, steps, what it waits for, decisions',
  });
  await saga.cancel();
});

it('shows the question only while it is open', async () => {
  const saga = await rig.sagas.switch(switchRequest({ approval: 'always' }));
  const { question } = await untilWaiting(saga);
  expect((await metadataOf(saga)).currentDetails).toContain(question);
  await answer(saga, 'approve');
  await saga.result();
  expect((await metadataOf(saga)).currentDetails ?? '').toBe('');
});

it('shows of the last failure what a person wants to know, and not when the saga would have tried again', async () => {
  const request = provisionRequest();
  const match = { label: request.label };
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'refuse-before', status: 401, body: 'who are you?', match });
  const { lastFailure } = await untilWaiting(await rig.sagas.provision(request));
  expect(lastFailure).toEqual({
    failure: 'Unauthorized',
    whose: 'us',
    message: expect.stringMatching(/^POST \/order was answered 401/) as string,
    endpoint: 'POST /order',
    status: 401,
    body: expect.stringContaining('who are you?') as string,
  });
});

itInWays('answers an update with what was taken, and at which step', async () => {
  const { saga } = await stuck();
  expect(await answer(saga, 'retry')).toEqual({ taken: 'retry', step: 'place-order' });
  await untilWaiting(saga, 'stuck');
  await saga.cancel();
});

describeInWays('an update that does not fit', () => {
  const update = async (saga: SagaHandle, name: DecisionName, body: object) => {
    const { waiting } = await saga.progress();
    return runOf(saga).executeUpdate(name, { args: [{ question: waiting?.id, ...body }] });
  };

  it.each<[string, DecisionName, object, string | RegExp]>([
    [
      'another decision',
      'approve',
      {},
      'approve does not fit: place-order waits as stuck. Decisions that fit: retry, cancel',
    ],
    [
      'a wrong field',
      'retry',
      { who: 'me' },
      /^retry: who: is not a field of this request\. Like \{"question":"[\da-f]{8}","by":"you"\}$/,
    ],
    [
      'a correction of another field',
      'retry',
      { correction: { account: 'AB-9' } },
      'retry: correction: account: is not a field of this request. At place-order may be corrected: label',
    ],
    [
      'too long a note',
      'retry',
      { note: 'x'.repeat(4_001) },
      /^retry: note: must not have more than 4000 characters\. Like /,
    ],
  ])('%s is refused with why, and leaves no trace', async (_what, name, body, why) => {
    const { saga } = await stuck();
    await expect(update(saga, name, body)).rejects.toMatchObject({
      cause: {
        type: 'DecisionRefused',
        message: typeof why === 'string' ? why : (expect.stringMatching(why) as string),
      },
    });
    expect(await saga.progress()).toMatchObject({ state: 'stuck', decisions: [], ignored: [] });
    const { events } = await runOf(saga).fetchHistory();
    expect(events?.filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes)).toEqual([]);
    await saga.cancel();
  });

  it('a correction where nothing can be corrected', async () => {
    const request = provisionRequest();
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'refuse-before', match: { label: request.label } });
    const match = { planId: planIdOf(request.reference) };
    rig.sandbox.faults.add({ endpoint: 'delete-cart-item', kind: 'unauthorized', match });
    const saga = await rig.sagas.provision(request);
    const { step } = await untilWaiting(saga);
    await expect(update(saga, 'retry', { correction: { label: 'x' } })).rejects.toMatchObject({
      cause: { message: `retry: nothing can be corrected at ${step}; leave out correction` },
    });
    await answer(saga, 'retry');
  });
});

describe('a decision is about the question that it names', () => {
  it.each(decisionNames)('%s is refused without it, before anything is sent', async (name) => {
    const { saga } = await stuck();
    const body = { note: 'seen', vmObjectIds: [9_001] };
    await expect(saga.decide(name, body)).rejects.toThrow(/question: is required: the id of the question/);
    await saga.cancel();
  });

  it.each(['update', 'signal'])(
    'a late skip of the step before does not leave out the next one, as %s',
    async (how) => {
      const request = provisionRequest({ firewalls: [143], items: [{ quantity: 1 }] });
      rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'unauthorized' });
      rig.sandbox.faults.add({ endpoint: 'list-firewalls', kind: 'unauthorized', times: 2 });
      const saga = await rig.sagas.provision(request);
      const first = await untilWaiting(saga, 'stuck');
      await answer(saga, 'retry', { by: 'ann' });
      const second = await until(async () => {
        const { waiting } = await saga.progress();
        return waiting !== undefined && waiting.id !== first.id && waiting;
      });
      expect(second.choices).toContain('skip');
      const late = { question: first.id, by: 'bob', note: 'leave these out' };
      if (how === 'update') await expect(saga.decide('skip', late)).rejects.toThrow(/is not the one that waits now/);
      else await runOf(saga).signal('skip', late);
      const { waiting, decisions } = await until(async () => {
        const view = await saga.progress();
        return (how === 'update' || view.ignored.length === 1) && view;
      });
      expect(waiting?.id).toBe(second.id);
      expect(decisions).toMatchObject([{ decision: 'retry', by: 'ann' }]);
      await answer(saga, 'retry');
      await expect(saga.result()).resolves.toMatchObject({ outcome: 'done', servers: [{ firewalls: [143] }] });
    },
  );
});

describeInWays('a signal that does not fit is told', () => {
  async function ignoredOf(...signals: [DecisionName, unknown][]) {
    const { saga, waiting } = await stuck();
    for (const [name, body] of signals) {
      await runOf(saga).signal(name, body && { question: waiting.id, ...body });
    }
    const { ignored } = await until(async () => {
      const view = await saga.progress();
      return view.ignored.length === signals.length && view;
    });
    await saga.cancel();
    return ignored;
  }

  it('with who sent it, cut', async () => {
    const [ignored] = await ignoredOf(['retry', { by: 'o'.repeat(201) }]);
    expect(ignored).toEqual({
      decision: 'retry',
      at: expect.any(String) as string,
      why: expect.stringMatching(/^retry: by: must not have more than 200 characters/) as string,
      by: `${'o'.repeat(199)}…`,
    });
  });

  it.each([
    ['nobody', {}],
    ['a number', { by: 5 }],
    ['nothing at all', null],
  ])('without, where it names %s', async (_who, body) => {
    const [ignored] = await ignoredOf(['approve', body]);
    expect(ignored).toMatchObject({ decision: 'approve', why: expect.stringContaining('does not fit') as string });
    expect(ignored).not.toHaveProperty('by');
  });

  it('with why, cut', async () => {
    const fields = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`a-field-of-no-use-${index}`, 1]));
    const [ignored] = await ignoredOf(['retry', fields]);
    expect(ignored?.why).toMatch(/^retry: a-field-of-no-use-0: /);
    expect(ignored?.why).toHaveLength(1_000);
  });

  it('and of many only the last fifty', async () => {
    const { saga } = await stuck();
    for (let sent = 0; sent < 52; sent += 1) await runOf(saga).signal('approve', { by: String(sent) });
    const view = await until(async () => {
      const now = await saga.progress();
      return now.ignored.at(-1)?.by === '51' && now;
    });
    expect(view.ignored.map(({ by }) => by)).toEqual(Array.from({ length: 50 }, (_, index) => String(index + 2)));
    await saga.cancel();
  });
});
