/**
 * The one person of the night: has a terminal with the command line, and the provider's control panel, which is the
 * sandbox's ledger. What is said here of an order is what the panel shows.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Sandbox } from '../../../sandbox/server';
import { changeOrdersOf, openCartItems, ordersWithLabel, switchesOf } from '../../../sandbox/sentences';
import type { OpenLine } from '../../../src/client/jobs';
import type { SweepRun } from '../../../src/client/reconcile';
import { readWorkflowId } from '../../../src/domain/identity';
import type { JobReport } from '../../../src/domain/decide-many';
import type { LedgerSnapshot } from '../../../sandbox/ledger';
import { panelOf } from '../../support/panel';
import { planIdOf } from '../../support/requests';
import type { Terminal } from './terminal';

const by = 'the person of the drill';

export class Person {
  /**
   * Orders, changes and switches that were looked up in the panel; cart items that were looked for there, and deleted.
   */
  readonly looks = { placed: 0, notPlaced: 0, cartItems: 0 };
  /** When the last decision was through. */
  lastDecisionMs = 0;

  constructor(
    readonly terminal: Terminal,
    private readonly sandbox: Sandbox,
  ) {}

  /** What is left, and whether new sagas begin again. */
  async look(): Promise<void> {
    await this.terminal.type(['hold', 'status'], [0]);
    await this.terminal.type(['inbox', '--by', 'step'], [0, 4]);
  }

  /** What stands stuck is tried again, at a pace, a few first. */
  async retryStuck(perSecond: number): Promise<JobReport> {
    const filter = ['--where', 'SagaState="stuck"', '--rate', `${perSecond}/s`, '--note', 'the provider is back'];
    await this.job(['retry', ...filter, '--limit', '3', '--name', 'a-few'], [0, 5]);
    return this.job(['retry', ...filter, '--name', 'stuck']);
  }

  /** @returns undefined where no saga asks */
  async answerDoubts(perSecond: number): Promise<JobReport | undefined> {
    const { out } = await this.terminal.type(['questions', '--where', 'SagaState="outcome-unknown"'], [0]);
    const lines = out.split('\n').filter((line) => line !== '');
    const filled = lines.map((line) => lookUp(this.sandbox.ledger, JSON.parse(line) as OpenLine));
    for (const { decision } of filled) this.looks[decision === 'confirmPlaced' ? 'placed' : 'notPlaced'] += 1;
    if (filled.length === 0) return undefined;
    const folder = await mkdtemp(join(tmpdir(), 'order-saga-drill-'));
    try {
      const file = join(folder, 'decisions.jsonl');
      await writeFile(file, filled.map((line) => `${JSON.stringify(line)}\n`).join(''));
      const words = ['--note', 'as the control panel shows', '--rate', `${perSecond}/s`, '--name', 'doubts'];
      return await this.job(['--lines', file, ...words]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** Looks for items that the saga may have added, and could not name. @param count how many it tells of, at most */
  emptyCart(reference: string, count: number): void {
    this.looks.cartItems += count;
    const own = openCartItems(this.sandbox.ledger).filter(({ item }) => item.plan_id === planIdOf(reference));
    for (const { cartItemId } of own.slice(0, count)) panelOf(this.sandbox).deleteCartItem(cartItemId);
  }

  /** @returns the sweep, whatever it has found */
  async reconcile(): Promise<SweepRun> {
    const { out } = await this.terminal.type(
      ['reconcile', 'now', '--rate', '20', '--servers', '5000', '--json'],
      [0, 1, 4],
    );
    return JSON.parse(out) as SweepRun;
  }

  private async job(args: readonly string[], statuses: readonly number[] = [0]): Promise<JobReport> {
    const { out } = await this.terminal.type(['decide-many', ...args, '--by', by, '--yes', '--json'], statuses);
    this.lastDecisionMs = Date.now();
    return (JSON.parse(out) as { report: JobReport }).report;
  }
}

/** A line, filled in by what the panel shows. */
export function lookUp(ledger: LedgerSnapshot, { saga, question }: OpenLine) {
  const { workflow, reference = '' } = readWorkflowId(saga) ?? {};
  // A subscription of a test is named by the number of its request.
  const number = Number(reference.replace(/\D/g, ''));
  const decisionOf = (placed: boolean) => (placed ? 'confirmPlaced' : 'confirmNotPlaced');
  if (workflow === 'provisionServers') {
    const [order] = ordersWithLabel(ledger, reference);
    const ids = order && { orderId: String(order.orderId), vmObjectIds: order.vmObjectIds };
    return { saga, question, decision: decisionOf(order !== undefined), ...ids };
  }
  const placed = [...changeOrdersOf(ledger, 5_000_000 + number), ...switchesOf(ledger, 6_000_000 + number)];
  return { saga, question, decision: decisionOf(placed.length > 0) };
}
