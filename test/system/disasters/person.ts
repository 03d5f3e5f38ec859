/**
 * The person after a disaster: reads the inbox, answers what is asked as the provider's control panel shows it, until
 * nothing waits.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Sandbox } from '../../../sandbox/server';
import type { Inbox, InboxRow } from '../../../src/client/inbox';
import type { OpenLine } from '../../../src/client/jobs';
import type { SweepRun } from '../../../src/client/reconcile';
import type { ProgressView, WaitKind } from '../../../src/domain/progress';
import type { JobReport } from '../../../src/domain/decide-many';
import { lookUp } from '../drill/person';
import type { Terminal } from '../drill/terminal';

const by = 'the person of the rehearsal';

const known: WaitKind[] = ['approval', 'stuck', 'outcome-unknown'];

export class Person {
  private jobs = 0;

  constructor(
    readonly terminal: Terminal,
    private readonly sandbox: Sandbox,
  ) {}

  /** Runs a command of `order-saga journal`. */
  async journal(args: readonly string[], statuses: readonly number[] = [0]): Promise<string> {
    return (await this.terminal.type(['journal', ...args], statuses)).out;
  }

  /**
   * Decides whatever waits, again and again, until all have ended.
   *
   * @param look is called before each decision
   * @throws when some have not ended within the patience
   */
  async settle(countOpen: () => Promise<number>, look: () => Promise<void>, patienceMs: number): Promise<void> {
    const deadline = Date.now() + patienceMs;
    while ((await countOpen()) > 0) {
      if (Date.now() > deadline) throw new Error(`${await countOpen()} sagas have not ended after ${patienceMs} ms`);
      await look();
      const { rows } = await this.inbox();
      const of = (kind: string) => rows.filter((row) => row.kind === kind);
      if (rows.some(({ kind }) => !known.includes(kind))) throw new Error(`nobody rehearsed: ${JSON.stringify(rows)}`);
      for (const row of of('approval')) await this.approve(row);
      if (of('stuck').length > 0)
        await this.job(['retry', '--where', 'SagaState="stuck"', '--note', 'what failed works again']);
      if (of('outcome-unknown').length > 0) await this.answerDoubts();
      await pause(500);
    }
  }

  /** @returns the sweep, whatever it has found */
  async reconcile(): Promise<SweepRun> {
    const { out } = await this.terminal.type(['reconcile', 'now', '--json'], [0, 1, 4]);
    return JSON.parse(out) as SweepRun;
  }

  async inbox(): Promise<Inbox> {
    const { out } = await this.terminal.type(['inbox', '--json'], [0, 4]);
    return JSON.parse(out) as Inbox;
  }

  /** One that was answered meanwhile, or asks something else, refuses: it is in the next inbox. */
  private async approve({ reference, workflowId }: InboxRow): Promise<void> {
    const [kind = ''] = workflowId.split('/');
    const named = [reference, '--workflow', kind];
    const { out } = await this.terminal.type(['status', ...named, '--json'], [0, 4]);
    const { waiting } = JSON.parse(out) as ProgressView;
    if (waiting?.kind !== 'approval') return;
    const answer = JSON.stringify({ question: waiting.id, by });
    await this.terminal.type(['decide', reference, 'approve', answer, '--workflow', kind], [0, 2]);
  }

  private async answerDoubts(): Promise<void> {
    const { out } = await this.terminal.type(['questions', '--where', 'SagaState="outcome-unknown"'], [0]);
    const lines = out.split('\n').filter((line) => line !== '');
    if (lines.length === 0) return;
    const filled = lines.map((line) => JSON.stringify(lookUp(this.sandbox.ledger, JSON.parse(line) as OpenLine)));
    const folder = await mkdtemp(join(tmpdir(), 'order-saga-disaster-'));
    try {
      const file = join(folder, 'decisions.jsonl');
      await writeFile(file, filled.map((line) => `${line}\n`).join(''));
      await this.job(['--lines', file, '--note', 'as the control panel shows']);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** Status 5: some refuse, because a call may still be in flight; they are in the next inbox. */
  private async job(args: readonly string[]): Promise<JobReport> {
    const name = ['--name', `after-the-disaster-${++this.jobs}`];
    const { out } = await this.terminal.type(['decide-many', ...args, ...name, '--by', by, '--yes', '--json'], [0, 5]);
    return (JSON.parse(out) as { report: JobReport }).report;
  }
}
