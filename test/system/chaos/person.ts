/**
 * The one person of a bad night: has a terminal with the command line, and the provider's control panel, which is the
 * sandbox's ledger. What is said here of an order is what the panel shows.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { LedgerSnapshot } from '../../../sandbox/ledger';
import { changeOrdersOf, openCartItems, ordersWithLabel, switchesOf } from '../../../sandbox/sentences';
import type { Sandbox } from '../../../sandbox/server';
import type { Inbox, InboxRow } from '../../../src/client/inbox';
import type { OpenLine } from '../../../src/cli/many-commands';
import type { SweepRun } from '../../../src/client/reconcile';
import { readWorkflowId } from '../../../src/domain/identity';
import type { ProgressView, WaitKind } from '../../../src/domain/progress';
import { panelOf } from '../../support/panel';
import { planIdOf } from '../../support/requests';

const by = 'the person of the night';
/** A command that takes longer hangs. */
const commandMs = 600_000;
const known: WaitKind[] = ['approval', 'stuck', 'outcome-unknown'];

interface Answered {
  status: number;
  out: string;
  err: string;
}

export class Person {
  readonly commands: string[] = [];
  /**
   * Orders, changes and switches that were looked up in the panel; cart items that were looked for there, and deleted.
   */
  readonly looks = { placed: 0, notPlaced: 0, cartItems: 0 };

  constructor(
    private readonly program: string,
    private readonly settings: Record<string, string>,
    private readonly sandbox: Sandbox,
  ) {}

  /** @throws where it ends with another status: a person would look what that is */
  async type(args: readonly string[], statuses: readonly number[] = [0]): Promise<Answered> {
    const words = ['order-saga', ...args.map((word) => (/[\s"]/.test(word) ? `'${word}'` : word))].join(' ');
    this.note(words);
    const answered = await new Promise<Answered>((resolve) => {
      const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], ...this.settings };
      const limits = { timeout: commandMs, maxBuffer: 64 * 1024 * 1024 };
      const child = execFile(process.execPath, [this.program, ...args], { env, ...limits }, (_error, out, err) => {
        resolve({ status: child.exitCode ?? -1, out, err });
      });
    });
    if (answered.status !== 0) process.stderr.write(`    ${answered.status}: ${answered.err.trimEnd()}\n`);
    if (statuses.includes(answered.status)) return answered;
    throw new Error(`“${words}” ended with ${answered.status}: ${answered.err}${answered.out}`.slice(0, 2_000));
  }

  readonly note = (command: string): void => {
    this.commands.push(command);
    process.stderr.write(`  $ ${command}\n`);
  };

  async journal(args: readonly string[], statuses?: readonly number[]): Promise<string> {
    return (await this.type(['journal', ...args], statuses)).out;
  }

  async inbox(): Promise<Inbox> {
    const { out } = await this.type(['inbox', '--json'], [0, 4]);
    return JSON.parse(out) as Inbox;
  }

  /** Retries all stuck sagas. Status 5: some refuse. */
  retryStuck(note: string, more: readonly string[] = [], statuses?: readonly number[]): Promise<void> {
    return this.decideMany(['retry', '--where', 'SagaState="stuck"', '--note', note, ...more], statuses);
  }

  async answerDoubts(more: readonly string[] = [], statuses?: readonly number[]): Promise<void> {
    const { out } = await this.type(['questions', '--where', 'SagaState="outcome-unknown"']);
    const lines = out.split('\n').filter((line) => line !== '');
    const filled = lines.map((line) => lookUp(this.sandbox.ledger, JSON.parse(line) as OpenLine));
    for (const { decision } of filled) this.looks[decision === 'confirmPlaced' ? 'placed' : 'notPlaced'] += 1;
    if (filled.length === 0) return;
    const folder = await mkdtemp(join(tmpdir(), 'order-saga-night-'));
    try {
      const file = join(folder, 'decisions.jsonl');
      await writeFile(file, filled.map((line) => `${JSON.stringify(line)}\n`).join(''));
      await this.decideMany(['--lines', file, '--note', 'as the control panel shows', ...more], statuses);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /**
   * Decides whatever waits, again and again, until all have ended.
   *
   * @param look is called before each decision
   * @throws when some have not ended within the patience
   */
  async settle(countOpen: () => Promise<number>, look: () => Promise<void>, patienceMs: number): Promise<void> {
    const deadline = Date.now() + patienceMs;
    // Some refuse, because a call may still be in flight; they are in the next inbox.
    const someRefuse = [0, 5];
    while ((await countOpen()) > 0) {
      if (Date.now() > deadline) throw new Error(`${await countOpen()} sagas have not ended after ${patienceMs} ms`);
      await look();
      const { rows } = await this.inbox();
      const of = (kind: string) => rows.filter((row) => row.kind === kind);
      if (rows.some(({ kind }) => !known.includes(kind))) throw new Error(`nobody rehearsed: ${JSON.stringify(rows)}`);
      for (const row of of('approval')) await this.approve(row);
      if (of('stuck').length > 0) await this.retryStuck('what failed works again', [], someRefuse);
      if (of('outcome-unknown').length > 0) await this.answerDoubts([], someRefuse);
      await pause(500);
    }
  }

  /** Looks for items that the saga may have added, and could not name. @param count how many it tells of, at most */
  emptyCart(reference: string, count: number): void {
    this.looks.cartItems += count;
    const own = openCartItems(this.sandbox.ledger).filter(({ item }) => item.plan_id === planIdOf(reference));
    for (const { cartItemId } of own.slice(0, count)) panelOf(this.sandbox).deleteCartItem(cartItemId);
  }

  async reconcile(): Promise<SweepRun> {
    const { out } = await this.type(['reconcile', 'now', '--rate', '20', '--servers', '5000', '--json'], [0, 1, 4]);
    return JSON.parse(out) as SweepRun;
  }

  /** One that was answered meanwhile, or asks something else, refuses: it is in the next inbox. */
  private async approve({ reference, workflowId }: InboxRow): Promise<void> {
    const [kind = ''] = workflowId.split('/');
    const { out } = await this.type(['status', reference, '--workflow', kind, '--json'], [0, 4]);
    const { waiting } = JSON.parse(out) as ProgressView;
    if (waiting?.kind !== 'approval') return;
    const answer = JSON.stringify({ question: waiting.id, by });
    await this.type(['decide', reference, 'approve', answer, '--workflow', kind], [0, 2]);
  }

  private async decideMany(args: readonly string[], statuses?: readonly number[]): Promise<void> {
    await this.type(['decide-many', ...args, '--by', by, '--yes'], statuses);
  }
}

function lookUp(ledger: LedgerSnapshot, { saga, question, since }: OpenLine) {
  const { workflow, reference = '' } = readWorkflowId(saga) ?? {};
  // A subscription of a test is named by the number of its request.
  const number = Number(reference.replace(/\D/g, ''));
  const decisionOf = (placed: boolean) => (placed ? 'confirmPlaced' : 'confirmNotPlaced');
  if (workflow === 'provisionServers') {
    const [order] = ordersWithLabel(ledger, reference);
    const ids = order && { orderId: String(order.orderId), vmObjectIds: order.vmObjectIds };
    return { saga, question, since, decision: decisionOf(order !== undefined), ...ids };
  }
  const placed = [...changeOrdersOf(ledger, 5_000_000 + number), ...switchesOf(ledger, 6_000_000 + number)];
  return { saga, question, since, decision: decisionOf(placed.length > 0) };
}
