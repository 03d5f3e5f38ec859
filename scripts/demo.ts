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
import { Client, Connection } from '@temporalio/client';
import { Sandbox } from '../sandbox/server';
import {
  changeOrdersOf,
  firewallsOf,
  openCartItems,
  ordersWithLabel,
  placedTwice,
  switchesOf,
} from '../sandbox/sentences';
import { describeStep } from '../src/cli/live';
import { OrderSagaClient } from '../src/client/client';
import type { SagaHandle } from '../src/client/handle';
import type { StepStatus, Waiting } from '../src/domain/progress';
import type { CartItem } from '../src/domain/requests';
import { createDataConverter } from '../src/security/data-converter';
import { parsePayloadKeys } from '../src/security/keys';
import { provideTemporal } from './dev-server';
import { startProcess } from './processes';
import { runProgram } from './program';
import { lowPorts } from './reachable';

interface Stage {
  sandbox: Sandbox;
  sagas: OrderSagaClient;
  /** Makes a reference that is unique to the run of the demo. */
  reference: (name: string) => string;
}

/** Plays a saga. @returns it, for its steps, and the outcome in words. @throws where it went wrong */
type Story = (stage: Stage) => Promise<[SagaHandle, string]>;

const item: CartItem = {
  billing_cycle: 1,
  plan_id: 17,
  plan_type: 'cloud_servers_standard',
  password: 'correct horse battery staple',
  os_template_id: 3,
};
const account = 'AB-12345678';

const stories: Record<string, Story> = {
  'Buy three servers and protect them': async ({ sandbox, sagas, reference }) => {
    const label = reference('buy');
    const items = [{ ...item, quantity: 2 }, item];
    const request = { reference: label, account, label, items, firewalls: [143, 144] };
    const saga = await sagas.provision(request);
    const ids = (await saga.result()).servers.map(({ vmObjectId }) => vmObjectId);
    assert.equal(ids.length, 3);
    for (const id of ids) assert.deepEqual(firewallsOf(sandbox.ledger, id), [143, 144]);
    const again = await sagas.provision(request);
    assert.deepEqual((await again.result()).servers.length, 3);
    assert.equal(ordersWithLabel(sandbox.ledger, label).length, 1);
    return [saga, `servers ${ids.join(', ')}, each with firewalls 143 and 144; sent again, it is not ordered again`];
  },
  'An order that the provider refuses': async ({ sandbox, sagas, reference }) => {
    const label = reference('refused');
    sandbox.faults.add({ endpoint: 'place-order', kind: 'refuse-before', match: { label } });
    const saga = await sagas.provision({ reference: label, account, label, items: [item, item] });
    await assert.rejects(saga.result(), { type: 'OrderRejected' });
    assert.deepEqual(openCartItems(sandbox.ledger), []);
    return [saga, 'failed as OrderRejected; both cart items are deleted again'];
  },
  'A change order: quoted, available, placed': async ({ sandbox, sagas, reference }) => {
    const resources = [{ resource_name: 'vm_backup' as const, delta_value: '1' }];
    const request = { reference: reference('change'), subscription_id: 5512, resources, guard: { maxTotal: 50 } };
    const saga = await sagas.change(request);
    const { quote } = await saga.result();
    assert.equal(changeOrdersOf(sandbox.ledger, 5512).length, 1);
    return [saga, `placed for ${quote?.total} ${quote?.currency}`];
  },
  'A plan switch: quoted and done': async ({ sandbox, sagas, reference }) => {
    const saga = await sagas.switch({ reference: reference('switch'), subscription_id: 5514, plan_id: 21 });
    const { finalQuote } = await saga.result();
    assert.equal(switchesOf(sandbox.ledger, 5514).length, 1);
    return [saga, `switched to plan 21 for ${finalQuote?.total} ${finalQuote?.currency}`];
  },
  'A server gets exactly these firewalls': async ({ sandbox, sagas, reference }) => {
    sandbox.addServer({ vmObjectId: 42, firewalls: [150, 151] });
    const saga = await sagas.firewalls({ reference: reference('firewalls'), vmObjectId: 42, exactly: [143, 151] });
    await saga.result();
    assert.deepEqual(firewallsOf(sandbox.ledger, 42).sort(), [143, 151]);
    return [saga, '143 assigned first, then 150 unassigned; 151 was left alone'];
  },
  'An order whose answer is lost': async ({ sandbox, sagas, reference }) => {
    const label = reference('unknown');
    sandbox.faults.add({ endpoint: 'place-order', kind: 'reset-after', match: { label } });
    const saga = await sagas.provision({ reference: label, account, label, items: [item], firewalls: [143] });
    const { id } = await untilWaiting(saga, 'outcome-unknown');
    const [order] = ordersWithLabel(sandbox.ledger, label);
    const seen = { note: 'seen in the control panel', vmObjectIds: order?.vmObjectIds ?? [] };
    await saga.decide('confirmPlaced', { question: id, by: 'demo', ...seen });
    await saga.result();
    assert.equal(ordersWithLabel(sandbox.ledger, label).length, 1);
    return [saga, 'it waited; a person confirmed that it was placed; it was not ordered again'];
  },
  // The one that --keep leaves for the reader.
  'An order that is stuck: the provider refuses our credentials': async ({ sandbox, sagas, reference }) => {
    const label = reference('stuck');
    sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized', match: { label } });
    const saga = await sagas.provision({ reference: label, account, label, items: [item] });
    await untilWaiting(saga, 'stuck');
    return [saga, `${saga.workflowId} waits for you`];
  },
};

const settled: Record<string, Story> = {
  'The stuck order, settled': async ({ sandbox, sagas, reference }) => {
    const label = reference('stuck');
    const saga = await sagas.get(label, 'provisionServers');
    const { id } = await untilWaiting(saga, 'stuck');
    await saga.decide('retry', { question: id, by: 'demo', note: 'the token is fixed' });
    await saga.result();
    assert.equal(ordersWithLabel(sandbox.ledger, label).length, 1);
    return [saga, 'a person fixed the token and sent retry: ordered once'];
  },
};

async function untilWaiting(saga: SagaHandle, kind: string): Promise<Waiting> {
  for (;;) {
    const { waiting, state } = await saga.progress();
    if (waiting?.kind === kind) {
      console.log(`    ?  ${waiting.question}`);
      return waiting;
    }
    assert.ok(waiting === undefined && ['running', 'settling', kind].includes(state), `it waits as ${kind}`);
    await pause(50);
  }
}

const marks: Partial<Record<StepStatus, string>> = { done: '✓', undone: '↩', failed: '✗', stuck: '…', skipped: '–' };

async function goesWell(title: string, play: Story, stage: Stage): Promise<boolean> {
  console.log(`\n${title}`);
  try {
    const [saga, outcome] = await play(stage);
    for (const step of (await saga.progress()).steps) {
      console.log(`    ${marks[step.status] ?? '·'}  ${describeStep(step)}`);
    }
    console.log(`    →  ${outcome}`);
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
  const interrupted = new Promise<undefined>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => resolve(undefined));
    // Whoever reads it has gone: `npm run demo | head`.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => resolve(undefined));
  });
  try {
    const good = await Promise.race([run(values.keep, ending), interrupted]);
    if (good !== undefined && values.keep) {
      console.log('\nEverything keeps running. Ctrl-C ends it.');
      await interrupted;
    }
    return good ?? false;
  } finally {
    for (const end of ending.reverse()) await end();
  }
}

/** @param ending gets what is to be done at the end, in the order in which it became necessary */
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
  const started = Date.now().toString(36);
  // On a shared server, other workers must not take the demo's tasks.
  const taskQueue = temporal.uiUrl === undefined ? `order-saga-demo-${started}` : undefined;
  const worker = await startProcess('src/worker.ts', {
    ...environment,
    PROVIDER_BASE_URL: sandbox.url,
    ...(taskQueue === undefined ? {} : { TASK_QUEUE: taskQueue }),
    PROVIDER_PROFILE: 'sandbox/profile.json',
    // Nobody is asked before a call can no longer be in flight: here after six seconds, and not after a minute.
    PROVIDER_TIMEOUT_MS: '3000',
    PROVIDER_SETTLES_MS: '1000',
    LOG_LEVEL: 'error',
  });
  ending.push(() => worker.kill('SIGTERM'));
  const connection = await Connection.connect({ address: temporal.address });
  ending.push(() => connection.close());
  const client = new Client({ connection, dataConverter: createDataConverter(parsePayloadKeys(payloadKeys)) });
  const sagas = new OrderSagaClient(client, taskQueue === undefined ? {} : { taskQueue });
  const stage: Stage = { sandbox, sagas, reference: (name) => `demo-${started}-${name}` };

  console.log(`Temporal   ${temporal.address}${temporal.uiUrl ? `   Web UI ${temporal.uiUrl}` : ''}`);
  console.log(`Sandbox    ${sandbox.url}   its ledger ${sandbox.url}/_sandbox/ledger`);
  console.log(`Codec      ${codecUrl}   Temporal stores nothing unencrypted; the Web UI decodes it here`);
  console.log(worker.ready);

  let good = true;
  for (const [title, play] of Object.entries({ ...stories, ...(keep ? {} : settled) }))
    good = (await goesWell(title, play, stage)) && good;
  if (keep) printWhereToLook(stage.reference('stuck'), environment, temporal.uiUrl);
  good = placedTwice(sandbox.ledger).length === 0 && good;
  console.log(`\n${good ? 'All stories went right; nothing was placed twice.' : 'Something went wrong.'}`);
  return good;
}

function printWhereToLook(reference: string, environment: Record<string, string>, uiUrl: string | undefined): void {
  console.log('\nWhere to look, and what to do with the stuck order:');
  if (uiUrl) {
    const query = encodeURIComponent('ExecutionStatus="Running" AND SagaState="stuck"');
    console.log(`    stuck orders   ${uiUrl}/namespaces/default/workflows?query=${query}`);
    console.log('    open it, read “User Metadata”, then More Actions → Send an Update → retry');
  }
  const settings = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  console.log(`    or             ${settings.join(' ')} npm run -s cli -- status ${reference}   # and its answers`);
}

runProgram(module, async () => ((await main()) ? 0 : 1));
