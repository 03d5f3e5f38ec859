/**
 * The one person of the night: has a terminal with the command line, and the provider's control panel, which is the sandbox's ledger. What is
 * said here of an order is what the panel shows.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Sandbox } from '../../../sandbox/server';
import { changeOrdersOf, openCartItems, ordersWithLabel, switchesOf } from '../../../sandbox/sentences';
import type { OpenLine } from '../../../src/client/jobs';
import type { SweepRun } from '../../../src/client/reconcile';
import type { EvidenceLine } from '../../../src/domain/evidence';
import { readWorkflowId } from '../../../src/domain/identity';
import type { JobReport } from '../../../src/domain/job-report';
import { panelOf } from '../../support/panel';
import { planIdOf } from '../../support/requests';

export interface Terminal {
  /** The compiled command line. */
  program: string;
  environment: Record<string, string>;
  sandbox: Sandbox;
  /** A command that takes longer hangs. */
  patienceMs: number;
}

interface Answered {
  status: number;
  out: string;
  err: string;
}

const by = 'the person of the drill';

export class Person {
  /** As they were typed. */
  readonly commands: string[] = [];
  /** Orders, changes and switches that were looked up in the panel; cart items that were looked for there, and deleted. */
  readonly looks = { placed: 0, notPlaced: 0, cartItems: 0 };
  /** From the first line of a command to its end, all of them together. */
  typingMs = 0;
  /** When the last decision was through. */
  lastDecisionMs = 0;

  constructor(private readonly terminal: Terminal) {}

  /** What is left, and whether new sagas begin again. */
  async look(): Promise<void> {
    await this.type(['hold', 'status'], [0]);
    await this.type(['inbox', '--by', 'step'], [0, 4]);
  }

  /** What stands stuck is tried again, at a pace, a few first. */
  async retryStuck(perSecond: number): Promise<JobReport> {
    const filter = ['--where', 'SagaState="stuck"', '--probe', '3', '--rate', `${perSecond}/s`];
    return this.job(['retry', ...filter, '--note', 'the provider is back', '--name', 'stuck']);
  }

  /** @returns undefined where no saga asks */
  async answerDoubts(perSecond: number): Promise<JobReport | undefined> {
    const { out } = await this.type(['evidence'], [0]);
    const lines = out.split('\n').filter((line) => line !== '');
    const filled = lines.map((line) => this.lookUp(JSON.parse(line) as OpenLine));
    for (const { placed } of filled) this.looks[placed ? 'placed' : 'notPlaced'] += 1;
    if (filled.length === 0) return undefined;
    const folder = await mkdtemp(join(tmpdir(), 'order-saga-drill-'));
    try {
      const file = join(folder, 'evidence.jsonl');
      await writeFile(file, filled.map((line) => `${JSON.stringify(line)}\n`).join(''));
      const words = ['--note', 'as the control panel shows', '--rate', `${perSecond}/s`, '--name', 'doubts'];
      return await this.job(['--evidence', file, ...words]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** Looks for items that the saga may have added, and could not name. @param count how many it tells of, at most */
  emptyCart(reference: string, count: number): void {
    this.looks.cartItems += count;
    const own = openCartItems(this.terminal.sandbox.ledger).filter(({ item }) => item.plan_id === planIdOf(reference));
    for (const { cartItemId } of own.slice(0, count)) panelOf(this.terminal.sandbox).deleteCartItem(cartItemId);
  }

  /** @returns the sweep, whatever it has found */
  async reconcile(): Promise<SweepRun> {
    const { out } = await this.type(['reconcile', 'now', '--rate', '20', '--servers', '5000', '--json'], [0, 1, 4]);
    return JSON.parse(out) as SweepRun;
  }

  /** A line of evidence, filled in by what the panel shows. */
  private lookUp({ reference: workflowId, question }: OpenLine): EvidenceLine {
    const { ledger } = this.terminal.sandbox;
    const { workflow, reference = '' } = readWorkflowId(workflowId) ?? {};
    // A subscription of a test is named by the number of its request.
    const number = Number(reference.replace(/\D/g, ''));
    if (workflow === 'provisionServers') {
      const [order] = ordersWithLabel(ledger, reference);
      const ids = order && { orderId: String(order.orderId), vmObjectIds: order.vmObjectIds };
      return { reference: workflowId, question, placed: order !== undefined, ...ids };
    }
    const placed = [...changeOrdersOf(ledger, 5_000_000 + number), ...switchesOf(ledger, 6_000_000 + number)];
    return { reference: workflowId, question, placed: placed.length > 0 };
  }

  private async job(args: readonly string[]): Promise<JobReport> {
    const { out } = await this.type(['decide-many', ...args, '--by', by, '--yes', '--json'], [0]);
    this.lastDecisionMs = Date.now();
    return (JSON.parse(out) as { report: JobReport }).report;
  }

  /** @throws where it ends with another status: a person would look what that is */
  private async type(args: readonly string[], statuses: readonly number[]): Promise<Answered> {
    const { program, environment, patienceMs } = this.terminal;
    const words = ['order-saga', ...args.map((word) => (/[\s"]/.test(word) ? `'${word}'` : word))].join(' ');
    this.commands.push(words);
    process.stderr.write(`  $ ${words}\n`);
    const startedMs = Date.now();
    const answered = await new Promise<Answered>((resolve) => {
      const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment };
      const limits = { timeout: patienceMs, maxBuffer: 64 * 1024 * 1024 };
      const child = execFile(process.execPath, [program, ...args], { env, ...limits }, (_error, out, err) => {
        resolve({ status: child.exitCode ?? -1, out, err });
      });
    });
    this.typingMs += Date.now() - startedMs;
    if (statuses.includes(answered.status)) return answered;
    throw new Error(`“${words}” ended with ${answered.status}: ${answered.err}${answered.out}`.slice(0, 2_000));
  }
}
