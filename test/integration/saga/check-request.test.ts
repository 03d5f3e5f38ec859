/**
 * Sagas that were started from the Web UI or by another SDK: nothing was checked, and nobody named them for the list.
 */
import { randomUUID } from 'node:crypto';
import { callsTo } from '../../../sandbox/sentences';
import { readAttributes } from '../../../src/client/search-attributes';
import { workflowIdOf, type WorkflowName } from '../../../src/domain/identity';
import { documentedPlanTypes } from '../../../src/domain/plan-types';
import type { Report } from '../../../src/domain/results';
import { activitiesOf, attributeWritesOf } from '../../support/events';
import { cartItem, changeRequest, firewallsRequest, provisionRequest, switchRequest } from '../../support/requests';
import { Rig } from '../../support/rig';

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start({
    activities: { planTypesMore: ['bare_metal'] },
    sandbox: { supportedPlanTypes: [...documentedPlanTypes, 'bare_metal'] },
  });
});
afterAll(() => rig.close());

async function startAs(workflow: WorkflowName, input: unknown, workflowId: string) {
  await rig.temporal.workflow.start(workflow, { workflowId, taskQueue: 'order-saga', args: [input] });
  return rig.temporal.workflow.getHandle(workflowId);
}

const startAsNamed = (workflow: WorkflowName, request: { reference: string }) =>
  startAs(workflow, request, workflowIdOf(workflow, request.reference));

/** What a saga that is refused says, and which activities it asked for before. */
async function refused(input: unknown, workflowId = `provision/${randomUUID()}`) {
  const run = await startAs('provisionServers', input, workflowId);
  const error: unknown = await run.result().then(
    () => undefined,
    (why: unknown) => why,
  );
  const { cause } = error as { cause: { type: string; message: string; details: [Report] } };
  expect(cause.type).toBe('InvalidRequest');
  return { message: cause.message, report: cause.details[0], asked: await activitiesOf(run) };
}

describe('names itself for the list', () => {
  const namesOf = async (run: Awaited<ReturnType<typeof startAs>>) =>
    readAttributes((await run.describe()).typedSearchAttributes);

  it('by its account, where it has one', async () => {
    const request = provisionRequest();
    const run = await startAsNamed('provisionServers', request);
    await run.result();
    expect(await namesOf(run)).toMatchObject({ account: request.account });
    expect(await attributeWritesOf(run)).toEqual([['OrderReference', 'ProviderAccount'], ['ServerIds']]);
  });

  it('by its subscription', async () => {
    const run = await startAsNamed('switchPlan', switchRequest());
    await run.result();
    expect(await attributeWritesOf(run)).toEqual([['OrderReference', 'SubscriptionId']]);
  });

  it('by its server', async () => {
    const run = await startAsNamed('setFirewalls', firewallsRequest());
    await run.result();
    expect(await attributeWritesOf(run)).toEqual([['OrderReference', 'ServerIds']]);
  });

  it('but not again what the client has named', async () => {
    const { workflowId } = await rig.sagas.change(changeRequest());
    const run = rig.temporal.workflow.getHandle(workflowId);
    await run.result();
    expect(await attributeWritesOf(run)).toEqual([]);
  });
});

describe('is refused before anything is asked for', () => {
  it('under an id that is not its reference’s', async () => {
    const request = provisionRequest();
    const { message, report, asked } = await refused(request, 'provision/another');
    expect(message).toBe(
      `the request is wrong: reference: belongs to the workflow id provision/${request.reference}, ` +
        'but this run is provision/another',
    );
    expect(report.reference).toBe(request.reference);
    expect(asked).toEqual([]);
  });

  it.each([
    ['a number', 5, ''],
    ['missing', undefined, ''],
    ['endless', 'x'.repeat(5_000), 'x'.repeat(128)],
  ])('with a reference that is %s', async (_what, reference, shown) => {
    const { message, report } = await refused({ ...provisionRequest(), reference });
    expect(message).toMatch(/^the request is wrong: reference: must be /);
    expect(report.reference).toBe(shown);
    expect(report.outcome).toBe('untouched');
  });

  it('with every wrong field named', async () => {
    const { report, asked } = await refused({
      reference: 'R',
      account: 'x',
      items: [{ billing_cycle: 2 }],
      colour: 'red',
    });
    const fields = report.problems?.map(({ field }) => field);
    expect(fields).toEqual(expect.arrayContaining(['account', 'items[0].billing_cycle', 'colour']));
    expect(asked).toEqual([]);
  });

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['text', 'text'],
    ['list', []],
    ['number', 7],
    ['with items that are no list', { ...provisionRequest(), items: 'two' }],
    ['with an item of no plan type', { ...provisionRequest(), items: [{}] }],
  ])('%s', async (_what, input) => {
    const { report, asked } = await refused(input);
    expect(report.problems).not.toEqual([]);
    expect(asked).toEqual([]);
  });

  it('beyond the limits, of which no other field is told', async () => {
    const { report, asked } = await refused({ ...provisionRequest(), items: Array(201).fill(cartItem()), label: 5 });
    expect(report.problems).toEqual([{ field: 'items', message: 'must not have more than 200 entries' }]);
    expect(asked).toEqual([]);
  });
});

describe('with a plan type beyond the document’s', () => {
  const start = (planType: string) =>
    startAsNamed('provisionServers', provisionRequest({ items: [{}, { plan_type: planType }] }));

  it('is taken where the worker’s settings know it', async () => {
    const run = await start('bare_metal');
    await run.result();
    expect((await activitiesOf(run))[0]).toBe('supportedPlanTypes: look up further plan types');
    expect(callsTo(rig.sandbox.ledger, 'add-cart-item').map(({ body }) => body)).toContainEqual(
      expect.objectContaining({ plan_type: 'bare_metal' }),
    );
  });

  it('is refused where they do not', async () => {
    await expect((await start('wooden')).result()).rejects.toMatchObject({ cause: { type: 'InvalidRequest' } });
  });
});
