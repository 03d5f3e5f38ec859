/**
 * Sagas on a terminal, drawn in place: each with its state, its steps, their attempts, and how long it takes.
 * A question and an ending are written above it, and stay.
 *
 * ```text
 *   provision/PO-7  running  12s
 *     ✓ Add cart item 1
 *     ⠹ Place the order (2 attempts): in flight
 *     · Find the servers
 * ```
 */
import { styleText } from 'node:util';
import { isOutcome } from '../domain/outcomes';
import { isWait, type ProgressView, type StepStatus, type StepView } from '../domain/progress';
import { printable, type Streams } from './print';
import { inUnits } from './units';

const frames = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';
const frameMs = 120;
const marks: Partial<Record<StepStatus, string>> = {
  ...{ pending: '·', done: '✓', stuck: '!', skipped: '-', undone: '↩', failed: '✗' },
};

const clear = '\u001b[J';
const up = (rows: number) => (rows > 0 ? `\u001b[${rows}A` : '');
/** No line wraps, however wide its characters are, and no cursor blinks in it. */
const [begin, end] = ['\u001b[?25l\u001b[?7l', '\u001b[?7h\u001b[?25h'];

export class Live {
  private readonly sagas = new Map<string, ProgressView>();
  private rows = 0;
  private frame = 0;
  private readonly timer = setInterval(() => {
    this.frame += 1;
    this.draw();
  }, frameMs);

  constructor(private readonly screen: Streams['out']) {}

  show(workflowId: string, progress: ProgressView): void {
    this.sagas.set(workflowId, progress);
    this.draw();
  }

  /** Leaves the last picture on the screen. */
  close(): void {
    clearInterval(this.timer);
    this.draw();
    this.rows = 0;
  }

  /** @param above stays, above what is drawn */
  draw(above: readonly string[] = []): void {
    const lines = this.lines();
    const [said, drawn] = [above, lines].map((some) => some.map((line) => `${line}\n`).join(''));
    this.screen.write(`${up(this.rows)}${clear}${said}${begin}${drawn}${end}`);
    this.rows = lines.length;
  }

  /** As many as fit: where they do not, only what goes on or went wrong. */
  private lines(): string[] {
    // A terminal without a size says 0.
    const { columns: width = 0, rows: height = 0 } = this.screen;
    const columns = width > 0 ? width : 80;
    const most = height > 0 ? Math.max(1, height - 1) : 23;
    const linesOf = (isShown: (step: StepView) => boolean) =>
      [...this.sagas].flatMap(([id, progress]) => this.linesOf(id, progress, progress.steps.filter(isShown)));
    const all = linesOf(() => true);
    const isSettled = ({ status }: StepView) => ['pending', 'done', 'skipped', 'undone'].includes(status);
    const lines = all.length <= most ? all : linesOf((step) => !isSettled(step));
    const shown =
      lines.length <= most ? lines : [...lines.slice(0, most - 1), { text: `… ${lines.length - most + 1} more lines` }];
    return shown.map(({ text, style }) => {
      const plain = printable(text);
      const cut = plain.length > columns ? `${plain.slice(0, columns - 1)}…` : plain;
      return style && this.screen.hasColors?.() ? styleText(style, cut, { validateStream: false }) : cut;
    });
  }

  private linesOf(workflowId: string, progress: ProgressView, steps: readonly StepView[]): Line[] {
    const { state } = progress;
    const style = isWait(state) ? 'yellow' : isOutcome(state) ? (state === 'done' ? 'green' : 'red') : 'bold';
    const head = { text: `${workflowId}  ${state}  ${inUnits(elapsedMs(progress))}`, style } as const;
    return [head, ...steps.map((step) => this.lineOf(step))];
  }

  private lineOf(step: StepView): Line {
    const { status } = step;
    const mark = marks[status] ?? frames[this.frame % frames.length];
    const line = { text: `  ${mark} ${describeStep(step)}` };
    return status === 'stuck' || status === 'failed' ? { ...line, style: 'red' } : line;
  }
}

interface Line {
  text: string;
  style?: 'yellow' | 'green' | 'red' | 'bold';
}

/** "Place the order (2 attempts): in flight" */
export function describeStep({ title, attempts, detail }: StepView): string {
  const again = attempts > 1 ? ` (${attempts} attempts)` : '';
  return `${title}${again}${detail === undefined ? '' : `: ${detail.replace(/\s+/g, ' ')}`}`;
}

/** A saga that only waits has begun no step. */
function elapsedMs({ state, steps, waiting, queued }: ProgressView): number {
  const times = [...steps.flatMap(({ startedAt, endedAt }) => [startedAt, endedAt]), waiting?.since, queued?.since];
  const ms = times.flatMap((time) => (time === undefined ? [] : [Date.parse(time)]));
  if (ms.length === 0) return 0;
  return (isOutcome(state) ? Math.max(...ms) : Date.now()) - Math.min(...ms);
}
