/** Requests, and what the sandbox in its container knows of them. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { AwaitedCalls } from '../../sandbox/call-match';
import type { FaultSpec } from '../../sandbox/faults';
import type { LedgerSnapshot } from '../../sandbox/ledger';
import { noOrderPlacedTwice, ordersOf } from '../../sandbox/sentences';
import { exitStatus } from '../../src/cli/exit-status';
import { succeeded } from './command';
import type { Project } from './project';

/** The sandbox in its container: its control plane answers there only. */
export function sandboxOf(project: Project) {
  const ask = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const words = [`http://127.0.0.1:8090/_sandbox/${path}`, method, JSON.stringify(body ?? null)];
    const said = await project.inside('sandbox', ['node', '-e', askIt, ...words]);
    return JSON.parse(succeeded(said, [method, path]).stdout) as T;
  };
  return {
    ledger: () => ask<LedgerSnapshot>('GET', 'ledger'),
    /** @returns the fault's id */
    addFault: async (fault: FaultSpec) => (await ask<{ id: string }>('POST', 'faults', fault)).id,
    clearFaults: () => ask('DELETE', 'faults'),
    whenCalled: (awaited: AwaitedCalls) => ask('POST', 'wait', awaited),
    whenStruck: (fault: string) => ask('POST', 'wait', { fault }),
  };
}

const askIt = `
  const [url, method, body] = process.argv.slice(1);
  fetch(url, { method, ...(body === 'null' ? {} : { body }) }).then(async (answer) => {
    console.log(await answer.text());
    process.exitCode = answer.ok ? 0 : 1;
  });`;

/** The label and the account are of this request alone. */
export function request(reference: string) {
  const item = {
    billing_cycle: 1,
    plan_id: 17,
    plan_type: 'cloud_servers_standard',
    password: 'an-Example-only-1',
    os_template_id: 3,
  };
  return { reference, account: accountOf(reference), label: reference, items: [item], firewalls: [143] };
}

/** @throws when anything was ordered twice */
export async function ledgerOf(project: Project): Promise<LedgerSnapshot> {
  const read = await sandboxOf(project).ledger();
  assert.ok(noOrderPlacedTwice(read), 'the sandbox was asked for the same order twice');
  return read;
}

/** Two letters and digits, as the provider has them. */
function accountOf(reference: string): string {
  return `AB-${createHash('sha256').update(reference).digest().readUInt32BE()}`;
}

type Request = ReturnType<typeof request>;

export async function startSaga(project: Project, order: Request): Promise<void> {
  const started = await reached(project, ['provision', '-', '--detach', '--json'], JSON.stringify(order));
  assert.equal(started.status, 0, started.all);
}

/** Asks again while there is no connection: a server that has just come up is healthy before it answers everything. */
export async function reached(project: Project, words: readonly string[], input = ''): ReturnType<Project['cli']> {
  const deadline = Date.now() + settledMaxMs;
  for (;;) {
    const said = await project.cli(words, input);
    if (said.status !== exitStatus.noConnection || Date.now() > deadline) return said;
  }
}

interface Waiting {
  id: string;
  kind: string;
}

interface Seen {
  waiting?: Waiting;
  result?: { leftovers: { kind: string }[] };
}

/** Follows the saga until it waits or has bought what it should, however often the way to it breaks. */
export async function settle(project: Project, reference: string): Promise<Seen> {
  const deadline = Date.now() + settledMaxMs;
  for (;;) {
    const { status, stdout, all } = await project.cli(['watch', reference, '--json']);
    // Done, waits, partly: what else it may say is said while something is down. The last of its lines tells.
    if ([0, 4, 5].includes(status)) return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Seen;
    if (Date.now() > deadline) throw new Error(`${reference} is not settled after four minutes:\n${all.slice(-2_000)}`);
  }
}

/**
 * To its end; a person who is asked about an order looks it up in the sandbox’s ledger.
 *
 * @returns how many cart items it tells that may be left
 */
export async function finish(project: Project, reference: string): Promise<number> {
  for (let asked = 0; asked < 3; asked += 1) {
    const { waiting, result } = await settle(project, reference);
    if (result !== undefined) {
      for (const { kind } of result.leftovers) assert.equal(kind, 'cart-item-unknown');
      return result.leftovers.length;
    }
    assert.ok(waiting !== undefined);
    assert.equal(waiting.kind, 'outcome-unknown', `${reference} waits`);
    const [placed] = ordersOf(await ledgerOf(project), request(reference).account);
    // A worker that was killed before it sent the order has placed none.
    const seen = placed && { orderId: String(placed.orderId), vmObjectIds: placed.vmObjectIds };
    const words = { question: waiting.id, by: 'Ada', note: 'as the control panel shows', ...seen };
    const decision = placed ? 'confirmPlaced' : 'confirmNotPlaced';
    const decided = await project.cli(['decide', reference, decision, JSON.stringify(words)]);
    assert.equal(decided.status, 0, decided.all);
  }
  throw new Error(`${reference} asks again and again`);
}

const settledMaxMs = 240_000;
