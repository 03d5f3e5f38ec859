/** Many decisions from a terminal: each saga is decided once, however often the command is broken off and typed again. */
import { appendFileSync } from 'node:fs';
import { changeOrdersOf } from '../../../sandbox/sentences';
import type { OpenLine } from '../../../src/cli/many-commands';
import type { SagaHandle } from '../../../src/client/handle';
import { doubtfulSagas, stuckSagas, untilListed } from '../../support/bad-night';
import { runHere, startCommand, type Ended } from '../../support/command-line';
import { folderForFile } from '../../support/folder';
import { changeRequest } from '../../support/requests';
import { itInWays } from '../../support/left-out';
import { rigForFile, until } from '../../support/rig';
import { answer, outcomeOf, progressOf, untilWaiting } from '../../support/sagas';

const rig = rigForFile({ clears: true });
const folder = folderForFile();

const said = ['--by', 'ann', '--note', 'the provider is back'];
const many = (...args: string[]): Promise<Ended> => runHere(['decide-many', ...args, ...said], '', rig.environment);
const ofAccount = (account: string) => ['--where', `ProviderAccount="${account}"`];
const decisionsOf = async (saga: SagaHandle) => (await progressOf(saga)).decisions;
const fileOf = (lines: readonly unknown[]) =>
  folder.write('lines.jsonl', lines.map((line) => `${JSON.stringify(line)}\n`).join(''));

async function openLines(account: string): Promise<OpenLine[]> {
  const { out } = await runHere(['questions', ...ofAccount(account)], '', rig.environment);
  return out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as OpenLine);
}

async function eachOnceThoughBrokenOff(number: number, account: string): Promise<void> {
  rig.sandbox.faults.add({ endpoint: 'place-change-order', kind: 'unauthorized', times: 'all' });
  const requests = Array.from({ length: number }, () => changeRequest({ account }));
  const sagas: SagaHandle[] = [];
  for (const request of requests) sagas.push(await rig.sagas.change(request));
  await untilListed(rig, sagas, 'stuck');
  rig.sandbox.faults.clear();

  const asked = `retry where ProviderAccount="${account}"`;
  const args = ['decide-many', 'retry', ...ofAccount(account), '--yes', ...said];
  // So slowly that it is not done before it is broken off.
  const first = startCommand([...args, '--rate', '2'], rig.environment);
  await first.shows('at 2 per second it takes about');
  await untilDecided(sagas[0]!);
  first.child.kill('SIGINT');
  const brokenOff = await first.ended;
  expect(brokenOff.status).toBe(130);
  const counted = new RegExp(` (\\d+) of ${number}: \\1 taken\nthe same command goes on where it was\n$`);
  expect(Number(counted.exec(brokenOff.err)?.[1])).toBeLessThan(number);

  // At once: the list may still show what is decided.
  const { status, out } = await runHere([...args, '--rate', '20'], '', rig.environment, true);
  expect(status).toBe(0);
  const [, count = ''] = new RegExp(`^${asked}: (\\d+) sagas$`, 'm').exec(out) ?? [];
  expect(out).toMatch(/█████░{15} \d+ of \d+: \d+ taken/);
  expect(out).toMatch(new RegExp(`${asked}: ${count} taken\n$`));
  for (const [index, saga] of sagas.entries()) {
    await saga.result();
    expect(await decisionsOf(saga)).toMatchObject([{ decision: 'retry', by: 'ann', note: 'the provider is back' }]);
    expect(changeOrdersOf(rig.sandbox.ledger, requests[index]!.subscription_id)).toHaveLength(1);
  }
}

const untilDecided = (saga: SagaHandle) =>
  until(async () => (await progressOf(saga)).decisions.length > 0 || undefined);

it('each saga is decided once, though the command is broken off and typed again', () =>
  eachOnceThoughBrokenOff(60, 'AB-60'));

itInWays('each of 500 sagas is decided once, though the command is broken off and typed again', () =>
  eachOnceThoughBrokenOff(500, 'AB-500'),
);

it('a filter reaches only what fits, the longest waiting first, up to the limit', async () => {
  const [mine, others] = [await stuckSagas(rig, 3, 'AB-7'), await stuckSagas(rig, 1, 'AB-8')];
  rig.sandbox.faults.clear();
  const limited = await many('retry', ...ofAccount('AB-7'), '--limit', '2', '--yes', '--json');
  expect(limited.status).toBe(5);
  const ids = mine.map(({ workflowId }) => workflowId);
  expect(JSON.parse(limited.out)).toMatchObject({
    preview: { asked: 'retry where ProviderAccount="AB-7"', count: 2, beyond: 1 },
    // Side by side: which one is answered first is open.
    decided: expect.arrayContaining(ids.slice(0, 2).map((saga) => ({ saga, outcome: 'taken' }))) as unknown,
  });
  for (const saga of [mine[2]!, ...others]) expect((await progressOf(saga)).state).toBe('stuck');
  // Brackets of its own do not reach beyond what the decision is for.
  const [doubtful] = await doubtfulSagas(rig, 1, 0);
  const wide = await many('retry', '--where', 'SagaStep="no-such") OR (SagaState="outcome-unknown"', '--yes');
  expect(wide).toMatchObject({ status: 1, out: expect.stringContaining('there is nothing to decide') as string });
  expect(await decisionsOf(doubtful!)).toEqual([]);
});

it('nothing is decided before somebody has said yes', async () => {
  const [saga] = await stuckSagas(rig, 1, 'AB-9');
  const asked = await many('retry', ...ofAccount('AB-9'));
  expect(asked).toMatchObject({ status: 2, err: expect.stringContaining('add --yes') as string });
  expect((await many('retry', ...ofAccount('AB-9'), '--dry-run')).status).toBe(0);
  expect(await decisionsOf(saga!)).toEqual([]);
});

it('each question is printed as a line, and a decision for each is taken, once', async () => {
  const sagas = await doubtfulSagas(rig, 3, 1);
  const waits = await Promise.all(sagas.map((saga) => untilWaiting(saga)));
  const open = await openLines('AB-1');
  const kind = 'outcome-unknown';
  expect(open).toEqual(
    expect.arrayContaining(
      sagas.map(({ workflowId: saga }, index) => {
        const { id: question, since } = waits[index]!;
        return { saga, kind, question, since, decision: null };
      }),
    ),
  );
  const mine = open.filter(({ saga }) => sagas.some(({ workflowId }) => workflowId === saga));
  expect((await many('--lines', fileOf(mine), '--yes')).err).toMatch(/line 1: decision: must be one of/);
  const placed = ({ saga }: OpenLine) => (saga === sagas[0]!.workflowId ? 'confirmPlaced' : 'confirmNotPlaced');
  const file = fileOf(mine.map((line) => ({ ...line, decision: placed(line) })));
  // Editors and shells leave empty lines at the end.
  appendFileSync(file, '\n  \r\n');
  const asked = { status: 0, out: expect.stringContaining('3 decisions: 3 taken\n') as string };
  expect(await many('--lines', file, '--rate', '50', '--yes')).toMatchObject(asked);
  for (const saga of sagas) expect(await outcomeOf(saga)).toHaveProperty('result');
  // The same lines again, after the end: what each came to is said again.
  expect(await many('--lines', file, '--rate', '50', '--yes')).toMatchObject(asked);
  for (const saga of sagas) expect(await decisionsOf(saga)).toHaveLength(1);
});

it('a saga that refuses is named with its reason, and the others are decided', async () => {
  const [refusing, answered, right] = await doubtfulSagas(rig, 3, 3);
  const lineOf = async (saga: SagaHandle | undefined) => {
    const { id: question } = await untilWaiting(saga!);
    return { saga: saga!.workflowId, question, decision: 'confirmPlaced' };
  };
  const lines = [await lineOf(refusing), await lineOf(answered), await lineOf(right)];
  const unknown = { ...lines[0], saga: 'change/PO-nobody' };
  await answer(answered!, 'confirmPlaced', { by: 'bob', note: 'in the panel' });
  await outcomeOf(answered!);
  const file = fileOf([{ ...lines[0], vmObjectIds: [1] }, ...lines.slice(1), unknown]);
  const { status, out } = await many('--lines', file, '--rate', '50', '--yes');
  expect(status).toBe(5);
  expect(out).toMatch(/4 decisions: 1 taken, 1 refused, (2 ended before|1 no longer waiting, 1 ended before)\n/);
  expect(out).toContain(`this step brings no servers; leave it out: ${refusing!.workflowId}\n`);
  expect((await decisionsOf(right!))[0]).toMatchObject({ by: 'ann' });
});

it.each([
  ['neither a filter nor all', ['retry'], /--where FILTER, or --all/],
  ['an empty filter', ['retry', '--where', ' '], /--where FILTER, or --all/],
  ['a filter with lines', ['--where', 'x', '--lines', '-'], /--lines with neither/],
  ['no decision', ['--all'], /either a decision/],
  ['what only a look can tell, by a filter', ['confirmPlaced', '--all'], /Allowed choices are retry, skip, markDone/],
  ['a rate of zero', ['retry', '--all', '--rate', '0'], /--rate must be from 0.01 to 50/],
  ['a filter that Temporal does not understand', ['retry', '--where', 'SagaState=='], /where: Temporal does not/],
])('with %s, nothing is sent', async (_what, args, why) => {
  expect(await many(...args, '--yes')).toMatchObject({ status: 2, err: expect.stringMatching(why) as string });
});

const line = { saga: 'provision/PO-1', question: '1a2b3c4d', decision: 'confirmPlaced', orderId: 77 };
it.each<[string, object, RegExp]>([
  ['that nobody filled in', { decision: null }, /line 2: decision:/],
  ['with a bare reference', { saga: 'PO-1' }, /line 2: saga: must be a workflow id/],
  [
    'with what does not fit',
    { decision: 'confirmNotPlaced' },
    /line 2: confirmNotPlaced: orderId: there is no such field/,
  ],
  ['without a question', { question: undefined }, /line 2: confirmPlaced: question: is required/],
  ['with a time that is none', { since: 'today' }, /line 2: since: must be a time/],
])('a line %s is named, and none is sent', async (_what, changes, why) => {
  const err = expect.stringMatching(why) as string;
  expect(await many('--lines', fileOf([line, { ...line, ...changes }]), '--yes')).toMatchObject({ status: 2, err });
});
