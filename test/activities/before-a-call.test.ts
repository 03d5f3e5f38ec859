/** What an activity makes sure of before it calls the provider: nothing was sent where it refuses. */
import { Client, type WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure, WorkflowNotFoundError } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { firewallsOf, callsTo } from '../../sandbox/sentences';
import type { EndpointName } from '../../sandbox/endpoints';
import { createActivities, type Activities } from '../../src/activities/index';
import type { RunGuard } from '../../src/activities/pivot-guard';
import type { CallFailure } from '../../src/domain/failures';
import { ProviderClient } from '../../src/provider/client';
import { createSecretResolver } from '../../src/security/secret-resolver';
import { rigSettings } from '../support/activity-settings';
import { cartItem } from '../support/requests';
import { Rig, until } from '../support/rig';

let rig: Rig;
let provider: ProviderClient;
let activities: Activities;

const variables: Record<string, string> = { SECRET_ROOT: 'a root password', SECRET_KEY: 'no base64!' };

beforeAll(async () => {
  rig = await Rig.start({ worker: false });
  provider = new ProviderClient({ baseUrl: rig.sandbox.url, pauseMaxMs: 0 });
  activities = activitiesWith();
});
afterAll(async () => {
  await provider.close();
  await rig.close();
});

const activitiesWith = (sources: { folder?: string } = {}) =>
  createActivities({
    provider,
    secrets: createSecretResolver({ variable: (name) => variables[name], ...sources }),
    settings: rigSettings,
  });

/** Refusals are what is tested. */
const logger = new DefaultLogger('ERROR');
const here = { workflowId: 'provision/T-0', runId: 'this-run' };

interface Task {
  attempt?: number;
  run?: typeof here;
  client?: Client;
}

function work<Result>(activity: () => Promise<Result>, { attempt = 1, run = here, client = rig.temporal }: Task = {}) {
  const environment = new MockActivityEnvironment({ attempt, workflowExecution: run }, { client, logger });
  return environment.run<[], Result, () => Promise<Result>>(activity);
}

async function refusal(activity: () => Promise<unknown>, task?: Task): Promise<CallFailure> {
  const error: unknown = await work(activity, task).catch((thrown: unknown) => thrown);
  if (error instanceof ApplicationFailure) return error.details?.[0] as CallFailure;
  throw new Error('it was not refused', { cause: error });
}

const sent = (endpoint: EndpointName) => callsTo(rig.sandbox.ledger, endpoint).length;

/** Nobody works on it here; where the mutants are tried it has failed already. */
async function end(run: Pick<WorkflowHandle, 'terminate'>): Promise<void> {
  await run.terminate().catch((error: unknown) => {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  });
}

describe('a pivot', () => {
  const order = () => ({ account: 'AB-1', cartItems: [] });
  const place = (guard: RunGuard) => () => activities.placeOrder({ order: order(), guard });

  it('is not sent by a run that is not its reference’s first', async () => {
    expect(await refusal(place({ firstRunId: 'another-run' }))).toMatchObject({
      failure: 'UnknownOutcome',
      message: expect.stringMatching(/came from a reset.*nothing was sent now/) as string,
      refused: { why: 'reset', runId: 'this-run' },
    });
    expect(await refusal(place({ firstRunId: 'first', clearedRunId: 'second' }))).toMatchObject({
      refused: { why: 'reset' },
    });
    expect(sent('place-order')).toBe(0);
  });

  it('is not sent where the reference was run before', async () => {
    const workflowId = 'provision/T-twice';
    const start = () =>
      rig.temporal.workflow.start('provisionServers', { workflowId, taskQueue: 'nobody', args: [{}] });
    await end(await start());
    const run = { workflowId, runId: (await start()).firstExecutionRunId };
    await until(async () => {
      const runs = [];
      for await (const one of rig.temporal.workflow.list({ query: `WorkflowId = '${workflowId}'` })) runs.push(one);
      return runs.length === 2;
    });
    expect(await refusal(place({ firstRunId: run.runId }), { run })).toMatchObject({
      failure: 'UnknownOutcome',
      message: expect.stringMatching(/was run before.*nothing was sent now/) as string,
      refused: { why: 'started-again', runId: run.runId },
    });
    expect(sent('place-order')).toBe(0);
    await end(rig.temporal.workflow.getHandle(workflowId));
  });

  it('is not sent where earlier runs cannot be looked up', async () => {
    const client = new Client({ connection: rig.temporal.connection, namespace: 'nowhere' });
    expect(await refusal(place({ firstRunId: here.runId }), { client })).toMatchObject({
      failure: 'NotSent',
      message: expect.stringMatching(/^earlier runs of this reference could not be looked up: .*nowhere/) as string,
    });
    expect(sent('place-order')).toBe(0);
  });

  it('is sent without a look at earlier runs where Temporal would have refused the start', async () => {
    const list = () => {
      throw new Error('nobody should look');
    };
    const withAbortSignal = <T>(_signal: AbortSignal, call: () => T) => call();
    const client = { withAbortSignal, workflow: { list } } as unknown as Client;
    const { cartItemId } = await work(() => activities.addCartItem({ item: cartItem(), opening: true }));
    const guard = { firstRunId: here.runId, startedOnce: true };
    const before = sent('place-order');
    await work(() => activities.placeOrder({ order: { account: 'AB-1', cartItems: [cartItemId] }, guard }), { client });
    expect(sent('place-order')).toBe(before + 1);
    expect(await refusal(place(guard), { run: { ...here, runId: 'after-a-reset' }, client })).toMatchObject({
      refused: { why: 'reset', runId: 'after-a-reset' },
    });
    expect(await refusal(place({ firstRunId: here.runId }), { client })).toMatchObject({ failure: 'NotSent' });
    expect(sent('place-order')).toBe(before + 1);
  });

  it('is sent by a first run, and by a run that a person has cleared', async () => {
    for (const guard of [{ firstRunId: here.runId }, { firstRunId: 'another-run', clearedRunId: here.runId }]) {
      const before = sent('place-order');
      const { cartItemId } = await work(() => activities.addCartItem({ item: cartItem(), opening: true }));
      await work(() => activities.placeOrder({ order: { account: 'AB-1', cartItems: [cartItemId] }, guard }));
      expect(sent('place-order')).toBe(before + 1);
    }
  });
});

describe('an attempt that Temporal made again', () => {
  const again = { attempt: 2 };

  it.each<[string, EndpointName, () => Promise<unknown>]>([
    ['adding', 'add-cart-item', () => activities.addCartItem({ item: cartItem(), opening: true })],
    ['assigning', 'assign-firewalls', () => activities.assignFirewalls({ vmObjectId: 1, firewalls: [143] })],
    [
      'a pivot',
      'place-order',
      () => activities.placeOrder({ order: { account: 'A', cartItems: [] }, guard: { firstRunId: here.runId } }),
    ],
  ])('is not sent: %s', async (_name, endpoint, activity) => {
    const before = sent(endpoint);
    expect(await refusal(activity, again)).toMatchObject({
      failure: 'UnknownOutcome',
      message: 'an earlier attempt of this call may have reached the provider; nothing was sent now',
    });
    expect(sent(endpoint)).toBe(before);
  });

  it('is sent where a repeat does no harm: reading, undoing', async () => {
    rig.sandbox.addServer({ vmObjectId: 81, firewalls: [143, 150] });
    expect(await work(() => activities.listFirewalls({ vmObjectId: 81 }), again)).toEqual({ firewalls: [143, 150] });
    await work(() => activities.unassignFirewalls({ vmObjectId: 81, firewalls: [150], undoing: true }), again);
    expect(firewallsOf(rig.sandbox.ledger, 81)).toEqual([143]);
  });
});

describe('unassigning what something else protects the server instead of', () => {
  const unassign = (firstRunId: string) => () =>
    activities.unassignFirewalls({
      vmObjectId: 82,
      firewalls: [150],
      instead: { firewalls: [143, 144, 145], firstRunId },
    });

  it('is not sent by a later run where that is not assigned', async () => {
    rig.sandbox.addServer({ vmObjectId: 82, firewalls: [143, 150] });
    expect(await refusal(unassign('an-earlier-run'))).toMatchObject({
      failure: 'NotThere',
      message: expect.stringMatching(/^the firewalls 144, 145, which should protect server 82 instead/) as string,
    });
    expect(firewallsOf(rig.sandbox.ledger, 82)).toEqual([143, 150]);
  });

  it('is sent where it is, and by the run that has seen to it', async () => {
    await work(() => activities.assignFirewalls({ vmObjectId: 82, firewalls: [144, 145] }));
    const looks = sent('list-firewalls');
    await work(unassign(here.runId));
    expect(sent('list-firewalls')).toBe(looks);
    await work(unassign('an-earlier-run'));
    expect(sent('list-firewalls')).toBe(looks + 1);
    expect(firewallsOf(rig.sandbox.ledger, 82)).toEqual([143, 144, 145]);
  });
});

it.each([
  [83, { expect: [143, 144, 145] }, 'does not show 144, 145'],
  [84, { without: [149, 150] }, 'still shows 149, 150'],
  [85, { expect: [143, 144], without: [150] }, 'does not show 144 and still shows 150'],
])('a firewall list that is awaited says what is amiss: of server %d, %j', async (vmObjectId, awaited, amiss) => {
  rig.sandbox.addServer({ vmObjectId, firewalls: [143, 149, 150] });
  expect(await refusal(() => activities.listFirewalls({ vmObjectId, ...awaited }))).toMatchObject({
    failure: 'NotThere',
    message: `the provider's firewall list of server ${String(vmObjectId)} ${amiss}`,
  });
});

describe('a secret by name', () => {
  const add = (secrets: object, by = activities) => {
    const item = cartItem(secrets);
    return () => by.addCartItem({ item, opening: true });
  };

  it('is sent as its value', async () => {
    await work(add({ password: { secret: 'root' } }));
    expect(callsTo(rig.sandbox.ledger, 'add-cart-item').at(-1)?.body).toMatchObject({ password: 'a root password' });
  });

  it('that is not there, not what the field takes, or not to be read is told by its name, and nothing is sent', async () => {
    const before = sent('add-cart-item');
    const told = async (activity: () => Promise<unknown>) => {
      const { failure, message } = await refusal(activity);
      return `${failure}: ${message}`;
    };
    expect(await told(add({ password: { secret: 'gone' } }))).toBe(
      'SecretMissing: there is no secret gone for password',
    );
    expect(await told(add({ custom_ssh_key: { secret: 'key' } }))).toBe(
      'SecretMissing: the secret key is not what custom_ssh_key must be',
    );
    expect(await told(add({ password: { secret: 'root' } }, activitiesWith({ folder: '/dev/null' })))).toMatch(
      /^SecretMissing: the secret root could not be looked up: .*ENOTDIR/,
    );
    expect(sent('add-cart-item')).toBe(before);
  });
});
