/**
 * The demo: real sagas on a real Temporal server, over real HTTP, against the sandbox. Each story prints what happened
 * and is checked against the sandbox's ledger; if one goes wrong, the demo fails.
 *
 *   npm run demo            runs the stories, cleans up, exits
 *   npm run demo -- --keep  leaves one saga stuck for you, and everything running until Ctrl-C
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client, Connection, WorkflowNotFoundError } from '@temporalio/client';
import { Sandbox } from '../sandbox/server';
import {
  changeOrdersOf,
  firewallsOf,
  openCartItems,
  ordersWithLabel,
  placedTwice,
  switchesOf,
} from '../sandbox/sentences';
import { OrderSagaClient } from '../src/client/client';
import { SagaFailedError } from '../src/client/errors';
import type { SagaHandle } from '../src/client/handle';
import type { Waiting } from '../src/domain/progress';
import type { CartItem } from '../src/domain/requests';
import { createDataConverter } from '../src/security/data-converter';
import { parsePayloadKeys } from '../src/security/keys';
import { NoTemporalError } from './temporal-cli';
import { provideTemporal } from './dev-server';
import { startProcess } from './processes';
import { lowPorts } from './reachable';

/** What a story uses. */
interface Stage {
  sandbox: Sandbox;
  sagas: OrderSagaClient;
  /** Deletes the run of an ended saga. */
  forget: (workflowId: string) => Promise<void>;
  /** Makes a reference that is unique to the story and the run of the demo. */
  reference: (name: string) => string;
}

interface Story {
  title: string;
  /** @returns what to print; throws when it went wrong */
  play: (stage: Stage) => Promise<string>;
}

const item: CartItem = {
  billing_cycle: 1,
  plan_id: 17,
  plan_type: 'cloud_servers_standard',
  password: 'correct horse battery staple',
  os_template_id: 3,
};
const account = 'AB-12345678';

const stories: Story[] = [
  {
    title: 'Buy three servers and protect them',
    play: async ({ sandbox, sagas, reference }) => {
      const label = reference('buy');
      const items = [{ ...item, quantity: 2 }, item];
      const saga = await sagas.provision({ reference: label, account, label, items, firewalls: [143, 144] });
      const { servers } = await resultOf(saga);
      const [order, ...more] = ordersWithLabel(sandbox.ledger, label);
      assert.ok(order !== undefined && more.length === 0, 'one order');
      assert.ok(
        servers.length === 3 && servers.every(({ vmObjectId }) => firewallsOf(sandbox.ledger, vmObjectId).length === 2),
        'every server has both firewalls',
      );
      return `servers ${servers.map(({ vmObjectId }) => String(vmObjectId)).join(', ')}, each with firewalls 143 and 144`;
    },
  },
  {
    title: 'The same order once more, after Temporal has forgotten it',
    play: async ({ sandbox, sagas, reference, forget }) => {
      const label = reference('forgotten');
      const request = { reference: label, account, label, items: [item], firewalls: [143] };
      const saga = await sagas.provision(request);
      const { order } = await resultOf(saga);
      await forget(saga.workflowId);
      const again = await resultOf(await sagas.provision(request));
      assert.ok(ordersWithLabel(sandbox.ledger, label).length === 1, 'one order');
      assert.deepEqual(again.order, order, 'the answer is the first one’s');
      return 'the recorded answer, from the journal; nothing was ordered again';
    },
  },
  {
    title: 'An order that the provider refuses',
    play: async ({ sandbox, sagas, reference }) => {
      const label = reference('refused');
      sandbox.faults.add({ endpoint: 'place-order', kind: 'refuse-before', match: { label } });
      const saga = await sagas.provision({ reference: label, account, label, items: [item, item] });
      const type = await failureOf(saga);
      assert.ok(type === 'OrderRejected', 'it fails as OrderRejected');
      assert.ok(openCartItems(sandbox.ledger).length === 0, 'both cart items are deleted again');
      return 'failed as OrderRejected; both cart items are deleted again';
    },
  },
  {
    title: 'A change order: quoted, available, placed',
    play: async ({ sandbox, sagas, reference }) => {
      const resources = [{ resource_name: 'vm_backup' as const, delta_value: '1' }];
      const request = { reference: reference('change'), subscription_id: 5512, resources, guard: { maxTotal: 50 } };
      const saga = await sagas.change(request);
      const { quote } = await resultOf(saga);
      assert.ok(changeOrdersOf(sandbox.ledger, 5512).length === 1, 'one change order');
      return `placed for ${quote ? `${quote.total} ${quote.currency}` : 'terms that are not known'}`;
    },
  },
  {
    title: 'A plan switch: quoted and done',
    play: async ({ sandbox, sagas, reference }) => {
      const saga = await sagas.switch({ reference: reference('switch'), subscription_id: 5514, plan_id: 21 });
      const { finalQuote } = await resultOf(saga);
      assert.ok(switchesOf(sandbox.ledger, 5514).length === 1, 'one switch');
      return `switched to plan 21 for ${finalQuote?.total} ${finalQuote?.currency}`;
    },
  },
  {
    title: 'A server gets exactly these firewalls',
    play: async ({ sandbox, sagas, reference }) => {
      sandbox.addServer({ vmObjectId: 42, firewalls: [150, 151] });
      const saga = await sagas.firewalls({ reference: reference('firewalls'), vmObjectId: 42, exactly: [143, 151] });
      await resultOf(saga);
      const now = firewallsOf(sandbox.ledger, 42);
      assert.ok(now.length === 2 && now.includes(143) && now.includes(151), 'the server has exactly 143 and 151');
      return '143 assigned first, then 150 unassigned; 151 was left alone';
    },
  },
  {
    title: 'An order whose answer is lost',
    play: async ({ sandbox, sagas, reference }) => {
      const label = reference('unknown');
      sandbox.faults.add({ endpoint: 'place-order', kind: 'reset-after', match: { label } });
      const saga = await sagas.provision({ reference: label, account, label, items: [item], firewalls: [143] });
      const waiting = await untilWaiting(saga, 'outcome-unknown');
      const [order] = ordersWithLabel(sandbox.ledger, label);
      const vmObjectIds = order?.vmObjectIds ?? [];
      await saga.decide('confirmPlaced', {
        question: waiting.id,
        by: 'demo',
        note: 'seen in the control panel',
        vmObjectIds,
      });
      await resultOf(saga);
      assert.ok(ordersWithLabel(sandbox.ledger, label).length === 1, 'still one order');
      return 'it waited; a person confirmed that it was placed; it was not ordered again';
    },
  },
];

/** The saga that --keep leaves for the reader. */
const stuck: Story = {
  title: 'An order that is stuck: the provider refuses our credentials',
  play: async ({ sandbox, sagas, reference }) => {
    const label = reference('stuck');
    sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized', match: { label } });
    const saga = await sagas.provision({ reference: label, account, label, items: [item] });
    await untilWaiting(saga, 'stuck');
    return `${saga.workflowId} waits for you`;
  },
};

const settled: Story = {
  title: 'The stuck order, settled',
  play: async ({ sandbox, sagas, reference }) => {
    const label = reference('stuck');
    const saga = await sagas.get(label, 'provisionServers');
    const { id } = await untilWaiting(saga, 'stuck');
    await saga.decide('retry', { question: id, by: 'demo', note: 'the token is fixed' });
    await resultOf(saga);
    assert.ok(ordersWithLabel(sandbox.ledger, label).length === 1, 'one order');
    return 'a person fixed the token and sent retry: ordered once';
  },
};

async function resultOf<S extends SagaHandle>(saga: S): Promise<Awaited<ReturnType<S['result']>>> {
  const result = await saga.result();
  await printSteps(saga);
  return result as Awaited<ReturnType<S['result']>>;
}

async function failureOf(saga: SagaHandle): Promise<string> {
  try {
    await saga.result();
    return 'none';
  } catch (error) {
    if (!(error instanceof SagaFailedError)) throw error;
    await printSteps(saga);
    return error.type;
  }
}

async function untilWaiting(saga: SagaHandle, kind: string): Promise<Waiting> {
  for (;;) {
    const { waiting, state } = await saga.progress();
    if (waiting?.kind === kind) {
      await printSteps(saga);
      console.log(`    ?  ${waiting.question}`);
      return waiting;
    }
    assert.ok(waiting === undefined && ['running', 'settling', kind].includes(state), `it waits as ${kind}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const marks = {
  done: '✓',
  undone: '↩',
  failed: '✗',
  stuck: '…',
  skipped: '–',
  pending: '·',
  running: '·',
  undoing: '↩',
};

async function printSteps(saga: SagaHandle): Promise<void> {
  const { steps } = await saga.progress();
  for (const { status, title, detail } of steps) {
    console.log(`    ${marks[status]}  ${title}${detail ? `  (${detail})` : ''}`);
  }
}

async function goesWell({ title, play }: Story, stage: Stage): Promise<boolean> {
  console.log(`\n${title}`);
  try {
    console.log(`    →  ${await play(stage)}`);
    return true;
  } catch (error) {
    console.log(`    ✗  WENT WRONG: ${String(error)}`);
    return false;
  }
}

async function main(): Promise<boolean> {
  const { values } = parseArgs({ options: { keep: { type: 'boolean', default: false } } });
  const ending: (() => Promise<unknown>)[] = [];
  // Handled from now on: a second Ctrl-C, or one that arrives twice, must not end this process during the clean-up.
  const interrupted = new Promise<'interrupted'>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => resolve('interrupted'));
  });
  try {
    const finished = await Promise.race([run(values.keep, ending), interrupted]);
    if (finished === 'interrupted') return false;
    if (values.keep) {
      console.log('\nEverything keeps running. Ctrl-C ends it.');
      await interrupted;
    }
    return finished;
  } finally {
    for (const end of ending.reverse()) await end();
  }
}

async function run(keep: boolean, ending: (() => Promise<unknown>)[]): Promise<boolean> {
  console.log('waiting for a Temporal server, the sandbox, a codec server and a worker…');
  // Unique to this run, because nothing needs its payloads on a shared server after it.
  const payloadKeys = `demo:${randomBytes(32).toString('base64')}`;
  // Each of the two must know the other's address before it starts.
  const [uiPort = 0] = await lowPorts(1);
  const codec = await startProcess('src/codec-server.ts', {
    PAYLOAD_KEYS: payloadKeys,
    CODEC_ADDRESS: '127.0.0.1:0',
    CODEC_ORIGINS: `http://127.0.0.1:${uiPort},http://localhost:${uiPort}`,
  });
  ending.push(() => codec.kill('SIGTERM'));
  const codecUrl = codec.ready.replace('codec server ready: ', '');
  const temporal = await provideTemporal({ uiPort, uiCodecEndpoint: codecUrl });
  ending.push(() => temporal.stop());
  const sandbox = await Sandbox.start({ orderResponse: 'ids' });
  ending.push(() => sandbox.close());
  const folder = await mkdtemp(join(tmpdir(), 'order-saga-demo-'));
  ending.push(() => rm(folder, { recursive: true }));
  const journal = `file:${join(folder, 'journal.db')}`;
  const environment = { TEMPORAL_ADDRESS: temporal.address, PAYLOAD_KEYS: payloadKeys, JOURNAL_URL: journal };
  const taskQueue = `order-saga-demo-${Date.now().toString(36)}`;
  const worker = await startProcess('src/worker.ts', {
    ...environment,
    PROVIDER_BASE_URL: sandbox.url,
    // On a shared server, other workers must not take the demo's tasks.
    ...(temporal.uiUrl === undefined ? { TASK_QUEUE: taskQueue } : {}),
    SERVER_POINTERS: '/vm_object_ids',
    // Nobody is asked before a call can no longer be in flight: here after six seconds, and not after a minute.
    PROVIDER_TIMEOUT_MS: '3000',
    PROVIDER_SETTLES_MS: '1000',
    LOG_LEVEL: 'error',
  });
  ending.push(() => worker.kill('SIGTERM'));
  const connection = await Connection.connect({ address: temporal.address });
  ending.push(() => connection.close());
  const client = new Client({ connection, dataConverter: createDataConverter(parsePayloadKeys(payloadKeys)) });
  const sagas = new OrderSagaClient(client, temporal.uiUrl === undefined ? { taskQueue } : {});
  const run = Date.now().toString(36);
  const forget = (workflowId: string) => forgetRun(client, workflowId);
  const stage: Stage = { sandbox, sagas, forget, reference: (name) => `demo-${run}-${name}` };

  console.log(`Temporal   ${temporal.address}${temporal.uiUrl ? `   Web UI ${temporal.uiUrl}` : ''}`);
  console.log(`Sandbox    ${sandbox.url}   its ledger ${sandbox.url}/_sandbox/ledger`);
  const reader = temporal.uiUrl === undefined ? `temporal … --codec-endpoint ${codecUrl}` : 'the Web UI';
  console.log(`Codec      ${codecUrl}   Temporal stores nothing unencrypted; ${reader} decodes it here`);
  console.log(worker.ready);

  let good = true;
  for (const story of [...stories, stuck, ...(keep ? [] : [settled])]) good = (await goesWell(story, stage)) && good;
  if (keep) printWhereToLook(stage, environment, temporal.uiUrl);
  good = placedTwice(sandbox.ledger).length === 0 && good;
  console.log(`\n${good ? 'All stories went right; nothing was placed twice.' : 'Something went wrong.'}`);
  return good;
}

function printWhereToLook({ reference }: Stage, environment: Record<string, string>, uiUrl: string | undefined): void {
  const stuckReference = reference('stuck');
  console.log('\nWhere to look, and what to do with the stuck order:');
  if (uiUrl) {
    const query = encodeURIComponent('ExecutionStatus="Running" AND SagaState="stuck"');
    console.log(`    stuck orders   ${uiUrl}/namespaces/default/workflows?query=${query}`);
    console.log('    open it, read “User Metadata”, then More Actions → Send an Update → retry');
  }
  const settings = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  console.log(`    or             ${settings.join(' ')} npm run cli -- decide ${stuckReference} retry '{"by":"you"}'`);
}

/** Deletes a run, as Temporal does after its retention. */
async function forgetRun({ connection, workflow, options: { namespace } }: Client, workflowId: string): Promise<void> {
  await connection.workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId } });
  for (;;) {
    try {
      await workflow.getHandle(workflowId).describe();
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return;
      throw error;
    }
    await pause(100);
  }
}

main().then(
  (good) => {
    process.exitCode = good ? 0 : 1;
  },
  (error: unknown) => {
    console.error(error instanceof NoTemporalError ? error.message : error);
    process.exitCode = 1;
  },
);
