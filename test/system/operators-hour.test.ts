/**
 * What the pages tell an operator to type: each line of their blocks, as it stands there and in a shell, with sagas that
 * wait. Where a line is to be filled in, the ledger is the control panel.
 */
import { execFile } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { changeOrdersOf, ordersWithLabel } from '../../sandbox/sentences';
import type { SagaHandle } from '../../src/client/handle';
import type { OpenLine } from '../../src/cli/many-commands';
import { sagaAttributes } from '../../src/temporal/search-attributes';
import { shellBlocks } from '../docs/tables';
import { idsListed } from '../support/listed';
import { readDocument } from '../support/project';
import { sandboxProfile } from '../support/activity-settings';
import { doubtfulSagas, stuckSagas } from '../support/bad-night';
import { folderForFile } from '../support/folder';
import { stuckOrder } from '../support/orders';
import { programOf } from '../support/programs';
import { changeRequest, provisionRequest } from '../support/requests';
import { rigForFile, until } from '../support/rig';
import { untilWaitingOrEnded } from '../support/sagas';

const rig = rigForFile();
// A program is in it, and a folder in memory may be none for programs.
const folder = folderForFile(tmpdir());

const blocks = ['docs/operating-by-day.md', 'docs/disasters.md', 'docs/journal.md'].flatMap((page) =>
  shellBlocks(readDocument(page)).flatMap((block) => {
    const lines = block.split('\n').filter((line) => line.startsWith('order-saga '));
    const [first] = lines;
    return first === undefined ? [] : [{ page, first, lines }];
  }),
);

beforeAll(() => {
  folder.write('profile.json', JSON.stringify({ ...sandboxProfile, export: columns }));
  folder.write('panel.csv', `${Object.values({ ...columns, time: columns.time.column }).join()}\n`);
  chmodSync(folder.write('order-saga', `#!/bin/sh\nexec ${process.execPath} ${programOf('starter')} "$@"\n`), 0o755);
});

/** Of the panel, whose export has no order. */
const columns = { orderId: 'Order', account: 'Account', label: 'Name', time: { column: 'Created' } };

function type(line: string): Promise<{ status: number | null; out: string }> {
  const env = {
    ...rig.environment,
    PROVIDER_PROFILE: join(folder.path, 'profile.json'),
    HOME: folder.path,
    PATH: `${folder.path}:${process.env['PATH']}`,
  };
  return new Promise((resolve) => {
    const child = execFile('bash', ['-c', line], { cwd: folder.path, env }, (_error, out, err) => {
      resolve({ status: child.exitCode, out: out + err });
    });
  });
}

async function untilNoneRuns(): Promise<void> {
  await until(async () => (await idsListed(rig.sagas, { state: 'running' })).length === 0);
}

/** By the ledger. */
async function ordersOf(workflowId: string): Promise<unknown[]> {
  const { typedSearchAttributes: named } = await rig.runOf({ workflowId }).describe();
  const { ledger } = rig.sandbox;
  const subscription = named.get(sagaAttributes.subscription);
  return subscription === undefined
    ? ordersWithLabel(ledger, named.get(sagaAttributes.reference) ?? '')
    : changeOrdersOf(ledger, Number(subscription));
}

async function fillIn(file: string): Promise<void> {
  const asked = readFileSync(join(folder.path, file), 'utf8').trim().split('\n');
  const lines = asked.map(async (line) => {
    const question = JSON.parse(line) as OpenLine;
    const decision = (await ordersOf(question.saga)).length > 0 ? 'confirmPlaced' : 'confirmNotPlaced';
    return JSON.stringify({ ...question, decision });
  });
  folder.write(file, (await Promise.all(lines)).join('\n'));
}

/** Sagas that wait for what a block decides. */
async function waitingFor(block: string): Promise<SagaHandle[]> {
  const sagas: SagaHandle[] = [];
  if (block.includes('SagaStep="place-order"')) sagas.push((await stuckOrder(rig)).saga);
  // One more than a first try takes.
  if (block.includes('SagaState="stuck"')) sagas.push(...(await stuckSagas(rig, 4)));
  if (block.includes('--lines')) sagas.push(...(await doubtfulSagas(rig, 2, 1)));
  const [, reference] = /order-saga decide (\S+) approve/.exec(block) ?? [];
  if (reference !== undefined) sagas.push(await rig.sagas.change(changeRequest({ reference, approval: 'always' })));
  for (const [, ended = ''] of block.matchAll(/^order-saga servers correct (\S+)/gm)) {
    await (await rig.sagas.provision(provisionRequest({ reference: ended }))).result();
  }
  rig.sandbox.faults.clear();
  return sagas;
}

it.each(blocks)('goes as $page says: $first', async ({ lines }) => {
  const sagas = await waitingFor(lines.join('\n'));
  const say = async (line: string, done: readonly number[]) => {
    await untilNoneRuns();
    const [, reference] = /^order-saga decide (\S+) /.exec(line) ?? [];
    const asks = reference && (await untilWaitingOrEnded(await rig.sagas.get(reference)))?.id;
    if (reference !== undefined && asks === undefined) return;
    const [, file] = /--lines (\S+)/.exec(line) ?? [];
    if (file !== undefined) await fillIn(file);
    // Somebody at a terminal is asked, and says yes.
    let typed = line.replace('"question":"…"', `"question":"${asks}"`);
    // Those of the page may be other orders' here.
    if (line.startsWith('order-saga servers correct')) typed = typed.replace(/ (900\d) /, ' 99$1 ');
    const { status, out } = await type(typed.replace('decide-many', 'decide-many --yes'));
    expect({ line, status: done.includes(status ?? -1), out }).toEqual({ line, status: true, out });
  };
  // 4: something was found, or waits; 5: there is more than it was to reach.
  for (const line of lines) await say(line, [0, 4, 5]);
  // “Again, until nothing waits”: of some kinds none may be left (1).
  const again = lines.slice(lines.findIndex((line) => line.startsWith('order-saga inbox')));
  const waits = async () => (await Promise.all(sagas.map((saga) => untilWaitingOrEnded(saga)))).some(Boolean);
  while (await waits()) for (const line of again) await say(line, [0, 1, 4, 5]);
  for (const saga of sagas) {
    await saga.result();
    expect([saga.workflowId, await ordersOf(saga.workflowId)]).toEqual([saga.workflowId, [expect.anything()]]);
  }
});
