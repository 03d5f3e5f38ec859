/** So many jobs, so many of them at once: each that ends makes room for the next. */
export interface LoopFigures {
  /** From the first start to the last end. */
  seconds: number;
  latenciesMs: number[];
}

export async function closedLoop(total: number, atOnce: number, job: () => Promise<void>): Promise<LoopFigures> {
  const latenciesMs: number[] = [];
  let started = 0;
  const lane = async () => {
    while (started < total) {
      started += 1;
      const from = performance.now();
      await job();
      latenciesMs.push(performance.now() - from);
    }
  };
  const from = performance.now();
  await Promise.all(Array.from({ length: atOnce }, lane));
  return { seconds: (performance.now() - from) / 1_000, latenciesMs };
}

/** Milliseconds that it takes. */
export async function timed(job: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await job();
  return performance.now() - from;
}
