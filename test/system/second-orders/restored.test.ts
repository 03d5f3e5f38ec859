/**
 * Databases that were restored from an older copy: Temporal's, also while the run goes on elsewhere; the journal's; and
 * both. To each point of a run: every-copy.test.ts.
 */
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { callsTo, changeOrdersOf } from '../../../sandbox/sentences';
import { startDevServer, type DevServer } from '../../../scripts/dev-server';
import { startProcess } from '../../../scripts/processes';
import { resolveTemporal } from '../../../scripts/temporal-cli';
import { OrderSagaClient } from '../../../src/client/client';
import type { SagaHandle } from '../../../src/client/handle';
import { parsePriceList } from '../../../src/config/price-list';
import { restored, trustNewReferences } from '../../../src/journal/restore/confirm-restore';
import { folderForFile } from '../../support/folder';
import { itInWays } from '../../support/left-out';
import { deleteRun, startRaw } from '../../support/web-ui';
import { programOf } from '../../support/programs';
import { changeRequest, provisionRequest } from '../../support/requests';
import { Rig, until, type RigOptions } from '../../support/rig';
import { answer, outcomeOf, untilAnother, untilState, untilWaiting, untilWaitingOrEnded } from '../../support/sagas';
import { copyDatabase, crashCopy, putDatabaseBack, removeDatabase } from '../../support/sqlite-copy';
import { restoredAndTrusted, said } from '../../support/operator';
import { rulesThatHeld } from './rules-held';

describe('Temporal', () => {
  const { path: folder, write } = folderForFile();
  let cli: string;
  const ending: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    const temporal = await resolveTemporal({ env: { ...process.env, TEMPORAL_ADDRESS: '' } });
    if (temporal.kind !== 'cli') throw new Error('only a server of one’s own can be restored');
    cli = temporal.path;
  });
  afterEach(async () => {
    for (const end of ending.splice(0).reverse()) await end();
  });

  const startServer = async (dbFile: string): Promise<DevServer> => {
    const server = await startDevServer({ cli, ui: false, dbFile });
    ending.push(() => server.stop());
    return server;
  };

  /** A cluster whose database is copied while it runs. */
  async function started(name: string, activities: RigOptions['activities'] = {}) {
    const dbFile = join(folder, `${name}.db`);
    const server = await startServer(dbFile);
    const rig = await Rig.start({
      ...{ address: server.address, activities, provider: { totalTimeoutMs: 3_000 } },
      replays: () => false,
    });
    ending.push(() => rig.close());
    return { rig, server, dbFile };
  }

  /** Another cluster that goes on from a copy: it has a worker of its own, the same journal, and the same provider. */
  async function goOnFrom(copy: string, rig: Rig, settings?: Record<string, string>): Promise<OrderSagaClient> {
    const { address } = await startServer(copy);
    const connection = await Connection.connect({ address });
    ending.push(() => connection.close());
    const environment = { ...rig.environment, TEMPORAL_ADDRESS: address, PROVIDER_TIMEOUT_MS: '3000', ...settings };
    const worker = await startProcess(programOf('worker'), environment);
    ending.push(() => worker.kill('SIGKILL'));
    return new OrderSagaClient(new Client({ connection, namespace: rig.namespace }));
  }

  itInWays('of which two copies come to one order at once: it is sent once, and both know it', async () => {
    const { rig, server, dbFile } = await started('two');
    const request = changeRequest();
    const [one = '', other = ''] = [1, 2].map((nth) =>
      rig.sandbox.faults.add({ endpoint: 'quote-change-order', kind: 'gate', nth }),
    );
    const saga = await rig.sagas.change(request);
    await rig.sandbox.whenStruck(one);
    const copy = join(folder, 'two-copy.db');
    await crashCopy(server.pid, dbFile, copy);
    rig.sandbox.faults.add({ endpoint: 'quote-change-order', kind: 'gate', nth: 1 });
    const lagging = await goOnFrom(copy, rig);
    // The first one's quote was given up by its own clock; both ask for one again, and stand at it.
    await rig.sandbox.whenStruck(other);
    rig.sandbox.faults.clear();
    const results = await Promise.all([saga.result(), (await lagging.get(request.reference)).result()]);
    expect(results[0]).toEqual(results[1]);
    expect(changeOrdersOf(rig.sandbox.ledger, request.subscription_id)).toHaveLength(1);
    expect(callsTo(rig.sandbox.ledger, 'place-change-order')).toHaveLength(1);
  });

  it('restored to before a question and an estimate: what was said of them says nothing of the next ones', async () => {
    const listed = (price: number) => ({ currency: 'USD', plans: [{ plan_id: 17, billing_cycle: 1, price }] });
    const priceList = parsePriceList(JSON.stringify(listed(5)));
    const { rig, server, dbFile } = await started('questions', { priceList });
    const request = changeRequest({ approval: 'always' });
    rig.sandbox.faults.add({ endpoint: 'place-change-order', kind: 'reset-before', nth: 1 });
    rig.sandbox.faults.add({ endpoint: 'place-change-order', kind: 'reset-after', nth: 2 });
    const saga = await rig.sagas.change(request);
    await untilWaiting(saga, 'approval');
    const estimate = provisionRequest({ items: [{ plan_id: 17 }], approval: { aboveTotal: 1 } });
    const copy = join(folder, 'questions-copy.db');
    await rig.withoutWorkers(async () => {
      await rig.sagas.provision(estimate);
      await crashCopy(server.pid, dbFile, copy);
    });
    const cheap = await untilWaiting(rig.latest('provisionServers', estimate), 'approval');
    await answer(saga, 'approve');
    // The first one was not placed, and a person says so. The second one was, and nobody knows it yet.
    const { id } = await untilWaiting(saga, 'outcome-unknown');
    const said = { question: id, by: 'op', note: 'the panel shows none' };
    await saga.decide('confirmNotPlaced', said);
    await untilWaiting(saga, 'approval');
    await answer(saga, 'approve');
    await untilAnother(saga, id, 'outcome-unknown');

    const prices = write('prices.json', JSON.stringify(listed(5_000)));
    const sagas = await goOnFrom(copy, rig, { PRICE_LIST_FILE: prices });
    const dear = await sagas.get(estimate.reference);
    expect((await untilWaiting(dear, 'approval')).question).toContain('about 5000 usd');
    await expect(dear.decide('approve', { question: cheap.id, by: 'op' })).rejects.toThrow(
      /is not the one that waits now/,
    );
    const again = await sagas.get(request.reference);
    await answer(again, 'approve');
    await untilWaiting(again, 'outcome-unknown');
    await expect(again.decide('confirmNotPlaced', said)).rejects.toThrow(/is not the one that waits now/);
    await answer(again, 'confirmPlaced', { note: 'the panel shows one' });
    await again.result();
    expect(changeOrdersOf(rig.sandbox.ledger, request.subscription_id)).toHaveLength(1);
  });
});

describe('the journal', () => {
  let rig: Rig;

  beforeEach(async () => {
    // Effects that a restored journal lacks have no row.
    rig = await Rig.start({ witness: true, compares: false });
  });
  afterEach(() => rig.close());

  const copy = () => join(rig.folder, 'copy.db');
  const backup = () => copyDatabase(rig.journalFile, copy());
  const restoreFile = () => rig.withoutWorkers(() => putDatabaseBack(copy(), rig.journalFile));
  /** The journal comes back, and somebody says so: new references are asked about. */
  const sayRestored = () => rig.withJournal((journal) => restored(journal, said));
  const restoreAndSay = async () => {
    await restoreFile();
    await sayRestored();
  };
  const placed = ({ subscription_id }: { subscription_id: number }) =>
    changeOrdersOf(rig.sandbox.ledger, subscription_id);

  /** A person is asked, and the panel shows it. @returns what comes of it */
  async function confirmed(saga: SagaHandle): Promise<unknown> {
    await untilWaiting(saga, 'outcome-unknown');
    expect(await rulesThatHeld(rig, saga)).toEqual(['wait', 'epoch']);
    await answer(saga, 'confirmPlaced', { note: 'the panel shows it' });
    return saga.result();
  }

  it('restored, sends nothing from the first history on that knows more, until a person says so', async () => {
    const early = changeRequest({ approval: 'always' });
    const waits = await rig.sagas.change(early);
    await untilWaiting(waits, 'approval');
    backup();
    const lost = changeRequest({ approval: 'always' });
    const forgotten = await rig.sagas.change(lost);
    await untilWaiting(forgotten, 'approval');
    await restoreFile();

    // The one that the journal still has could not know; but the other one's history knows more than the journal.
    await answer(forgotten, 'approve');
    const stuck = await untilWaiting(forgotten, 'stuck');
    expect(stuck).toMatchObject({ lastFailure: { failure: 'JournalRestored' } });
    expect(stuck.question).toMatch(
      /^Stuck: “Place the change order” did not succeed\. Our own journal was restored or replaced/,
    );
    await answer(waits, 'approve');
    expect(await untilWaiting(waits, 'stuck')).toMatchObject({ lastFailure: { failure: 'JournalRestored' } });
    const fresh = changeRequest();
    const newcomer = await rig.sagas.change(fresh);
    await untilWaiting(newcomer, 'stuck');
    expect(callsTo(rig.sandbox.ledger, 'place-change-order')).toEqual([]);

    const { noticed } = await rig.withJournal((journal) => restoredAndTrusted(journal));
    expect(noticed).toMatch(/^\d{4}-/);
    for (const [saga, request] of [
      [forgotten, lost],
      [waits, early],
      [newcomer, fresh],
    ] as const) {
      await answer(saga, 'retry');
      await untilApproved(saga);
      const asked = await untilWaiting(saga, 'outcome-unknown');
      expect(asked.question).toMatch(/^The journal was restored from an older copy\./);
      await answer(saga, 'confirmNotPlaced', { note: 'the panel shows none' });
      await untilApproved(saga);
      await saga.result();
      expect(placed(request)).toHaveLength(1);
    }
    // Once: what was asked about in this time is not asked about again.
    expect(callsTo(rig.sandbox.ledger, 'place-change-order')).toHaveLength(3);
  });

  it('restored with Temporal, and nobody says so: the worker has seen more rows, and sends nothing', async () => {
    await (await rig.sagas.change(changeRequest())).result();
    backup();
    const request = changeRequest();
    const saga = await rig.sagas.change(request);
    await saga.result();
    // As a Temporal that was restored, too, knows nothing of it.
    await deleteRun(rig.temporal, saga);
    await restoreFile();
    const again = await startRaw(rig, 'changeOrder', request);
    expect(await untilWaiting(again, 'stuck')).toMatchObject({ lastFailure: { failure: 'JournalRestored' } });
    expect(placed(request)).toHaveLength(1);
    await sayRestored();
    await answer(again, 'retry');
    await confirmed(again);
    expect(placed(request)).toHaveLength(1);
  });

  it('restored, is found out by a saga that is cancelled: it does not say that nothing was placed', async () => {
    const request = changeRequest({ approval: 'always' });
    const saga = await rig.sagas.change(request);
    await untilWaiting(saga, 'approval');
    backup();
    await answer(saga, 'approve');
    await saga.result();
    await restoreAndSay();
    const again = await startRaw(rig, 'changeOrder', request);
    await untilWaiting(again, 'outcome-unknown');
    await again.cancel();
    const { cancelled } = await outcomeOf(again);
    expect(cancelled?.leftovers).toMatchObject([{ kind: 'placement-unknown', step: 'place-change-order' }]);
  });

  it('restored to before a reference was seen: with “ask” it is asked about, until new ones are trusted', async () => {
    backup();
    const request = changeRequest();
    await (await rig.sagas.change(request)).result();
    await restoreAndSay();
    const again = await startRaw(rig, 'changeOrder', request);
    expect(await untilWaiting(again, 'outcome-unknown')).toMatchObject({
      question: expect.stringMatching(/^The journal was restored/) as string,
    });
    await confirmed(again);
    expect(placed(request)).toHaveLength(1);
    expect(await rig.withJournal((journal) => trustNewReferences(journal, said))).toBe(true);
    const fresh = changeRequest();
    expect(await (await rig.sagas.change(fresh)).result()).toMatchObject({ decisions: [] });
  });

  it('restored to before a reference: a held saga that is cancelled does not say “nothing was placed”', async () => {
    backup();
    const request = changeRequest();
    await (await rig.sagas.change(request)).result();
    await restoreAndSay();
    await rig.sagas.hold({ note: 'a restore' });
    const again = await startRaw(rig, 'changeOrder', request);
    await untilState(again, 'held');
    await again.cancel();
    expect((await outcomeOf(again)).cancelled).toMatchObject({
      outcome: 'reversed-with-leftovers',
      leftovers: [{ kind: 'placement-unknown', step: 'place-change-order' }],
    });
    // It is in doubt, also once new ones are trusted; and it is known by now, so it is not held.
    await rig.withJournal((journal) => trustNewReferences(journal, said));
    const later = await startRaw(rig, 'changeOrder', request);
    await untilWaiting(later, 'outcome-unknown');
    await rig.sagas.release();
    await confirmed(later);
    expect(placed(request)).toHaveLength(1);
  });

  it('replaced by another one: nothing is sent, and it is said', async () => {
    const request = changeRequest({ approval: 'always' });
    const saga = await rig.sagas.change(request);
    await untilWaiting(saga, 'approval');
    await rig.withoutWorkers(() => removeDatabase(rig.journalFile));
    await answer(saga, 'approve');
    const { lastFailure } = await untilWaiting(saga, 'stuck');
    expect(lastFailure?.message).toMatch(/^this is not the journal that the saga began with; nothing was sent/);
    expect(placed(request)).toEqual([]);
    // The old one is lost for good: then somebody says so.
    await sayRestored();
    await answer(saga, 'retry');
    await untilApproved(saga);
    await untilWaiting(saga, 'outcome-unknown');
    await answer(saga, 'confirmNotPlaced', { note: 'the panel shows none' });
    await untilApproved(saga);
    await saga.result();
    expect(placed(request)).toHaveLength(1);
  });
});

/** Terms are come to again after each decision, and where the journal does not know of the saga's turn any more. */
async function untilApproved(saga: SagaHandle<'changeOrder'>): Promise<void> {
  for (;;) {
    const before = (await saga.progress()).decisions.length;
    const waiting = await untilWaitingOrEnded(saga);
    if (waiting?.kind !== 'approval') return;
    await answer(saga, 'approve');
    await until(async () => (await saga.progress()).decisions.length > before);
  }
}
