/** What a worker needs to bring a saga back from its history, without what it needs to start. */
import type { temporal } from '@temporalio/proto';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { timed } from './closed-loop';
import { median } from './statistics';

/** Beyond the one that starts the replay; so many that a clock notices them. */
const more = 100;

/** @returns milliseconds for one replay, with everything from the empty workflow context on */
export async function replayMs(
  codePath: string,
  workflowId: string,
  history: temporal.api.history.v1.IHistory,
  rounds: number,
): Promise<number> {
  const replay = async (times: number) => {
    const histories = Array.from({ length: times }, () => ({ workflowId, history }));
    for await (const { error } of Worker.runReplayHistories({ workflowBundle: { codePath } }, histories)) {
      if (error) throw error;
    }
  };
  const each: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const one = await timed(() => replay(1));
    each.push(((await timed(() => replay(1 + more))) - one) / more);
  }
  return median(each);
}

let runtimeInstalled = false;

/** Once, before anything of a worker runs in this process. Signals are for the measurement, which ends it all in order. */
export function quietRuntime(): void {
  if (runtimeInstalled) return;
  Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });
  runtimeInstalled = true;
}
