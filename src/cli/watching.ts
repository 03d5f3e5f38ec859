/** How followed sagas are shown: in place on a terminal, as lines elsewhere, or as JSON lines for a program. */
import type { ProgressView } from '../domain/progress';
import type { Ending } from './follow';
import { describeStep, Live } from './live';
import { describeEnding, describeWait, type Printer } from './print';

export interface Watching {
  progress: (progress: ProgressView, workflowId: string) => void;
  ending: (ending: Ending, workflowId: string) => void;
  /** Why nothing can be seen at the moment. */
  silence: (why: string) => void;
  close: () => void;
}

/** @param manySagas each line says of which saga it is */
export function watchingOn(printer: Printer, manySagas = false): Watching {
  const { screen, hasColors } = printer;
  if (screen === undefined) return inLines(printer, manySagas);
  const live = new Live(screen, hasColors);
  const news = new News();
  return {
    progress: (progress, workflowId) => {
      const lines = news.of(progress, workflowId);
      if (lines.length > 0) live.say(lines.map((line) => printer.asPrinted(line)));
      live.show(workflowId, progress);
    },
    ending: (ending, workflowId) => {
      live.say(describeEnding(ending, workflowId).map((line) => printer.asPrinted(line)));
    },
    silence: (why) => {
      live.say([printer.asPrinted(why)]);
    },
    close: () => {
      live.close();
    },
  };
}

export function inLines(printer: Printer, manySagas = false): Watching {
  const shown = new Map<string, string>();
  const news = new News();
  return {
    progress: (progress, workflowId) => {
      for (const step of progress.steps) {
        const { id, status } = step;
        const line = `${status.padEnd(8)}  ${describeStep(step)}`;
        const key = `${workflowId} ${id}`;
        if (status === 'pending' || shown.get(key) === line) continue;
        shown.set(key, line);
        printer.line(`  ${manySagas ? `${workflowId}  ` : ''}${line}`);
      }
      for (const line of news.of(progress, workflowId)) printer.line(line);
    },
    ending: (ending, workflowId) => {
      for (const line of describeEnding(ending, workflowId)) printer.line(line);
    },
    silence: (why) => {
      printer.toStderr(why);
    },
    close: () => undefined,
  };
}

/** Each question, and each time until which a call may be in flight, once. */
class News {
  private readonly told = new Set<string>();

  of({ waiting, settling }: ProgressView, workflowId: string): string[] {
    return [
      ...(settling && !waiting && this.isNew(`${workflowId} ${settling.until}`)
        ? [`settling: ${settling.step} may still take effect until ${settling.until}; nobody is asked before`]
        : []),
      ...(waiting && this.isNew(`${workflowId} ${waiting.id}`) ? describeWait(waiting, workflowId) : []),
    ];
  }

  private isNew(what: string): boolean {
    if (this.told.has(what)) return false;
    this.told.add(what);
    return true;
  }
}
