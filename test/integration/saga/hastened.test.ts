/**
 * What comes after hours, or after ten thousand events: the same code with shorter times and lower marks. Trouble may go
 * on for as long as people try: no history grows so long that Temporal ends the run, and the saga ends in order.
 */
import { readFileSync } from 'node:fs';
import type { Route } from '../../../src/domain/notifications';
import { folderForFile } from '../../support/folder';
import { stuckOrder } from '../../support/orders';
import { provisionRequest } from '../../support/requests';
import { bundleOf } from '../../support/programs';
import { WebhookReceiver } from '../../support/receiver';
import { Rig, until } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';

let receiver: WebhookReceiver;
let rig: Rig;
beforeAll(async () => {
  const code = readFileSync(bundleOf(), 'utf8');
  const hastened = code
    .replace(/(reminderDelaysMs\(\) \{\s+const hourMs = )60 \* 60 \* 1000/, '$120')
    .replace(/\bevents: (\d+)\b/g, (_, events: string) => `events: ${Number(events) / 50}`);
  const bundle = folder.write('bundle.js', hastened);
  receiver = await WebhookReceiver.start();
  const ops: Route = {
    ...{ name: 'ops', url: receiver.url, secret: 'ours' },
    events: ['waiting', 'reminder', 'settled', 'ended'],
  };
  const notifications = { routes: [ops], allowed: ['127.0.0.1'], timeoutMs: 2_000 };
  rig = await Rig.start({ bundle, secrets: { variable: () => receiver.secret }, activities: { notifications } });
});
afterAll(async () => {
  await rig.close();
  expect(receiver.faults).toEqual([]);
  await receiver.close();
});
// Declared last, it goes last: the rig replays what it has run by the bundle that is there.
const folder = folderForFile();

it('a receiver is reminded of a question, and told of its end', async () => {
  const { saga } = await stuckOrder(rig, { items: [{}, {}] });
  await until(async () => receiver.typesOf(saga.reference).length >= 4);
  await answer(saga, 'retry');
  await saga.result();
  await until(async () => receiver.typesOf(saga.reference).includes('saga.ended'));
  const told = receiver.messagesOf(saga.reference).map(({ type, data }) => `${type} ${data.reminders ?? ''}`);
  const reminders = [1, 2, 3].map((nth) => `saga.reminder ${nth}`);
  expect(told.slice(0, 4)).toEqual(['saga.waiting 0', ...reminders]);
  expect(told.slice(-2)).toEqual([expect.stringMatching(/^saga\.settled [3-9]$/), 'saga.ended ']);
});

it('a saga whose history is filled with signals that do not fit undoes all, and says why', async () => {
  const { saga } = await stuckOrder(rig, { items: [{}, {}] });
  const run = rig.runOf(saga);
  const eventsMax = 400;
  for (;;) {
    // Each in a workflow task of its own, as people send them.
    const { historyLength } = await run.describe();
    const isTold = await run.signal('cancelledBy', { note: 'no' }).then(
      () => true,
      () => false,
    );
    if (!isTold || historyLength >= eventsMax) break;
    await saga.progress();
  }
  const { failure } = await outcomeOf(saga);
  expect(failure).toMatchObject({ type: 'HistoryFull', report: { outcome: 'reversed', leftovers: [] } });
  expect(rig.openItems(saga)).toEqual([]);
  expect((await run.describe()).historyLength).toBeLessThan(eventsMax + 100);
});

it('a saga whose history has grown tries no more by itself, and its wait stays', async () => {
  await rig.restartWith({ ownTriesMs: [10] });
  rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'error-before', times: 'all' });
  const saga = await rig.sagas.provision(provisionRequest({ firewalls: [143] }));
  const { id } = await untilWaiting(saga, 'stuck');
  const calls = () => rig.sandbox.ledger.calls.filter(({ endpoint }) => endpoint === 'assign-firewalls').length;
  const reminders = () => receiver.typesOf(saga.reference).filter((type) => type === 'saga.reminder').length;
  const { historyLength } = await until(async () => {
    const { waiting } = await saga.progress();
    return waiting?.nextTryAt === undefined && (await rig.runOf(saga).describe());
  });
  // A fiftieth of 5,000; the last try goes beyond it.
  expect(historyLength).toBeGreaterThanOrEqual(100);
  expect(historyLength).toBeLessThan(150);
  const [made, reminded] = [calls(), reminders()];
  await until(async () => reminders() > reminded);
  expect([calls(), (await saga.progress()).waiting?.id]).toEqual([made, id]);
  rig.clear();
  await answer(saga, 'retry');
  expect(await saga.result()).toMatchObject({ outcome: 'done' });
});
