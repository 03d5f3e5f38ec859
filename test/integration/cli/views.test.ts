/** The inbox by every grouping and filter, and its links. */
import { OrderSagaClient } from '../../../src/client/client';
import type { InboxOptions } from '../../../src/client/inbox';
import type { SagaHandle } from '../../../src/client/handle';
import { inboxGroupings, type Waiting } from '../../../src/domain/progress';
import { changeRequest, provisionRequest, switchRequest } from '../../support/requests';
import { rigForFile, until } from '../../support/rig';
import { answer, untilWaiting } from '../../support/sagas';
import { runHere } from '../../support/command-line';
import { listOf } from '../../support/listed';

const ui = 'http://ui.example:8233/';
/** No account, but a filter that a query has to quote. */
const strange = `O'Neil \\ "Sons"`;

const rig = rigForFile();
let sagas: OrderSagaClient;
/** In the order in which they began to wait. */
const waiting: { saga: SagaHandle; asked: Waiting }[] = [];

beforeAll(async () => {
  sagas = new OrderSagaClient(rig.temporal, { webUiUrl: ui });
  const waits = async (saga: SagaHandle) => waiting.push({ saga, asked: await untilWaiting(saga) });
  const stuckAtItem = async (nth: number, account: string) => {
    // Both are added side by side: by its plan it is told which one.
    const planId = 900_000 + nth;
    const items = [1, 2].map((item) => (item === nth ? { plan_id: planId } : {}));
    rig.sandbox.faults.add({ endpoint: 'add-cart-item', kind: 'unauthorized', match: { planId } });
    await waits(await rig.sagas.provision(provisionRequest({ account, items })));
  };
  await waits(await rig.sagas.change(changeRequest({ approval: 'always', account: 'AB-1' })));
  await stuckAtItem(1, 'AB-1');
  await waits(await rig.sagas.switch(switchRequest({ approval: 'always' })));
  await stuckAtItem(2, 'ZZ-9');
  // It goes on, and waits no more.
  const ended = await rig.sagas.switch(switchRequest({ approval: 'always' }));
  await untilWaiting(ended);
  await answer(ended, 'approve');
  await ended.result();
  await until(async () => (await sagas.inbox()).total === waiting.length);
});

const queryOf = (link = '') => new URL(link).searchParams.get('query') ?? '';
const ids = (rows: readonly { workflowId: string }[]) => rows.map(({ workflowId }) => workflowId);
const all = () => waiting.map(({ saga }) => saga.workflowId);

it('names what has waited longest first, with a link to its run', async () => {
  const { total, rows } = await sagas.inbox();
  expect(total).toBe(4);
  expect(ids(rows)).toEqual(all());
  const [first] = waiting;
  expect(rows[0]).toEqual({
    workflowId: first!.saga.workflowId,
    runId: first!.saga.runId,
    reference: first!.saga.reference,
    workflow: 'changeOrder',
    kind: 'approval',
    step: 'place-change-order',
    question: expect.any(String) as string,
    account: 'AB-1',
    waitingSince: new Date(first!.asked.since),
    link: `http://ui.example:8233/namespaces/${rig.namespace}/workflows/change%2F${first!.saga.reference}/${first!.saga.runId}`,
  });
  expect(ids((await sagas.inbox({ limit: 2 })).rows)).toEqual(all().slice(0, 2));
  expect((await rig.sagas.inbox()).rows[0]!.link).toBeUndefined();
});

it.each<[InboxOptions['by'], Record<string, number>]>([
  ['kind', { approval: 2, stuck: 2 }],
  ['step', { 'place-change-order': 1, 'switch-plan': 1, 'add-cart-item-*': 2 }],
  ['account', { 'AB-1': 2, '(none)': 1, 'ZZ-9': 1 }],
])('counts by %s, and each link leads to as many', async (by, expected) => {
  const { groups } = await sagas.inbox({ by });
  expect(Object.fromEntries(groups.map(({ name, count }) => [name, count]))).toEqual(expected);
  for (const { count, link, oldest } of groups) {
    expect((await rig.temporal.workflow.count(queryOf(link))).count).toBe(count);
    const found = ids(await listOf(rig.temporal.workflow.list({ query: queryOf(link) })));
    expect(oldest.workflowId).toBe(all().find((id) => found.includes(id)));
  }
});

it.each<[InboxOptions, number[]]>([
  [{ kind: 'stuck' }, [1, 3]],
  [{ step: 'add-cart-item-*' }, [1, 3]],
  [{ account: 'AB-1', kind: 'approval' }, [0]],
  [{ account: strange }, []],
  [{ workflow: 'switchPlan' }, [2]],
  [{ olderThanMs: 3_600_000 }, []],
])('%j leaves out the others', async (filter, expected) => {
  for (const by of inboxGroupings) {
    const { total, rows, groups } = await sagas.inbox({ ...filter, by });
    expect(ids(rows)).toEqual(expected.map((index) => all()[index]));
    expect(total).toBe(expected.length);
    for (const { link, count } of groups) {
      expect((await rig.temporal.workflow.count(queryOf(link))).count).toBe(count);
    }
  }
});

it('on the command line shows the groups and the rows, and ends with 4 where something waits', async () => {
  const inbox = (...args: string[]) => runHere(['inbox', ...args], '', { ...rig.environment, TEMPORAL_UI_URL: ui });
  const { status, out, err } = await inbox('--by', 'step');
  expect(status).toBe(4);
  expect(out).toMatch(
    /^4 sagas wait for a decision\nstep +sagas +longest\nplace-change-order +1 +\d+s\n[^]*\n {2}place-change-order +http:/,
  );
  expect(out).toMatch(
    /the longest wait first:\nsaga +kind +step +account +waits\nchange\/T-\d+ +approval +place-change-order +AB-1 +\d+s\n[^]*\n {2}change\/T-\d+ +http:/,
  );
  expect(err).toBe('');
  const { rows, ...json } = JSON.parse((await inbox('--kind', 'stuck', '--limit', '1', '--json')).out) as {
    rows: unknown[];
  };
  expect(json).toMatchObject({ by: 'kind', total: 2, groups: [{ name: 'stuck' }] });
  expect(rows).toHaveLength(1);
});
