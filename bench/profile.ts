/**
 * Where the time goes: the functions in which a worker and a client spend it, and what a workflow costs before its first step.
 *
 * The profiles stay in `reports/bench/`, for a flame graph in a browser's developer tools or in speedscope.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { bundleBytes, type Built } from './built';
import { closedLoop } from './closed-loop';
import { bareRunner, ourRunner } from './contestants';
import { markdownTable } from './markdown';
import { load } from './process-figures';
import { quietRuntime, replayMs } from './replay';
import { provisionRequest } from './requests';
import { Stand, type WorkerKind } from './stand';

const folder = join(__dirname, '..', 'reports', 'bench');
const order = { items: 2, firewalls: true } as const;
const shownFunctions = 40;

export interface ProfileOptions {
  built: Built;
  sagas: number;
  rounds: number;
  say: (line: string) => void;
}

export async function profile({ built, sagas, rounds, say }: ProfileOptions): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const kind of ['plain', 'encrypted', 'bare'] as const) await profileWorker(built, kind, sagas, say);
  await measureEvaluation(built, rounds, say);
}

async function profileWorker(built: Built, kind: WorkerKind, total: number, say: ProfileOptions['say']) {
  const stand = await Stand.start(built);
  try {
    const flags = [`--cpu-prof`, `--heap-prof`].flatMap((flag) => [flag, `${flag}-dir=${join(folder, kind)}`]);
    const sayTimes = (name: string, measured: CpuProfile) => {
      say(`### ${name}: in a function itself\n\n${table(selfTimes(measured), 'ms', total)}\n`);
      say(`### ${name}: with what it calls\n\n${table(totalTimes(measured), 'ms', total)}\n`);
    };
    const worker = await stand.startWorker(kind, flags);
    const { run } = kind === 'bare' ? bareRunner(stand, 'bareSideBySide') : ourRunner(stand, kind);
    const client = new Session();
    client.connect();
    await client.post('Profiler.enable');
    await client.post('Profiler.start');
    await closedLoop(total, 10, () => run(provisionRequest(order)).then());
    const { profile: clientProfile } = await client.post('Profiler.stop');
    writeFileSync(join(folder, `${kind}.client.cpuprofile`), JSON.stringify(clientProfile));
    // The profiles are written at the end of a process that ends well.
    await worker.kill('SIGTERM');
    say(`\n## ${kind}: ${total} sagas, 10 at once, load ${load().toFixed(1)}\n`);
    sayTimes('client', clientProfile);
    for (const file of readdirSync(join(folder, kind)).sort()) {
      const content = JSON.parse(readFileSync(join(folder, kind, file), 'utf8')) as CpuProfile | HeapProfile;
      const name = `worker, ${kind}/${file}`;
      if ('nodes' in content) sayTimes(name, content);
      else say(`### ${name}: memory\n\n${table(selfSizes(content), 'KiB', total)}\n`);
    }
  } finally {
    await stand.close();
  }
}

interface Frame {
  functionName: string;
  url: string;
  lineNumber: number;
}

export interface CpuProfile {
  nodes: { id: number; callFrame: Frame; children?: number[] | undefined }[];
  samples?: number[] | undefined;
  /** Microseconds before each sample. */
  timeDeltas?: number[] | undefined;
}

interface HeapNode {
  callFrame: Frame;
  selfSize: number;
  children: HeapNode[];
}

export interface HeapProfile {
  head: HeapNode;
}

type Costs = Map<string, number>;

/** Milliseconds in each function itself, not in what it calls. */
export function selfTimes({ nodes, samples = [], timeDeltas = [] }: CpuProfile): Costs {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
  const costs: Costs = new Map();
  samples.forEach((id, index) => add(costs, frames.get(id) ?? '?', (timeDeltas[index] ?? 0) / 1_000));
  costs.delete('(idle)');
  return costs;
}

/** Milliseconds in each function and in all that it calls; one that calls itself counts once. */
export function totalTimes({ nodes, samples = [], timeDeltas = [] }: CpuProfile): Costs {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const callers = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const costs: Costs = new Map();
  samples.forEach((sample, index) => {
    const names = new Set<string>();
    for (let node = byId.get(sample); node !== undefined; node = byId.get(callers.get(node.id) ?? NaN)) {
      names.add(nameOf(node.callFrame));
    }
    if (names.has('(idle)')) return;
    for (const name of names) add(costs, name, (timeDeltas[index] ?? 0) / 1_000);
  });
  return costs;
}

/** KiB that each function allocated and that were still in use at the end. */
export function selfSizes({ head }: HeapProfile): Costs {
  const costs: Costs = new Map();
  const open = [head];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.selfSize > 0) add(costs, nameOf(node.callFrame), node.selfSize / 1_024);
    open.push(...node.children);
  }
  return costs;
}

function add(costs: Costs, name: string, cost: number): void {
  costs.set(name, (costs.get(name) ?? 0) + cost);
}

function nameOf({ functionName, url, lineNumber }: Frame): string {
  if (url === '') return functionName || '(anonymous)';
  const short = url.replace(/^.*\/(node_modules\/)/, '$1').replace(/^.*\/\.cache\/bench-[^/]*\//, '');
  return `${functionName || '(anonymous)'} ${short}:${lineNumber + 1}`;
}

function table(costs: Costs, unit: string, sagas: number): string {
  const dearest = [...costs].sort(([, a], [, b]) => b - a).slice(0, shownFunctions);
  return markdownTable(
    ['function', `${unit}/saga`],
    dearest.map(([name, cost]) => [name, cost / sagas]),
  );
}

/**
 * A workflow's share before its first step: context, bundle, check of the request. Seen by replaying histories that end after
 * the first task.
 */
async function measureEvaluation(built: Built, rounds: number, say: ProfileOptions['say']): Promise<void> {
  quietRuntime();
  const stand = await Stand.start(built);
  const rows: [string, number, number, number, number][] = [];
  try {
    for (const kind of ['plain', 'bare'] as const) {
      await stand.startWorker(kind);
      const { run, workflowId } = kind === 'bare' ? bareRunner(stand, 'bareSideBySide') : ourRunner(stand, 'plain');
      const request = provisionRequest(order);
      await run(request);
      const handle = stand.clientFor('bare').workflow.getHandle(workflowId(request));
      const { events = [] } = await handle.fetchHistory();
      const started = (events ?? []).findIndex((event) => event.activityTaskStartedEventAttributes);
      const codePath = stand.built.bundles[kind];
      const replay = (part: typeof events) => replayMs(codePath, workflowId(request), { events: part }, rounds);
      const first = await replay((events ?? []).slice(0, started));
      rows.push([kind, bundleBytes(codePath), first, await replay(events ?? []), load()]);
    }
  } finally {
    await stand.close();
  }
  const head = ['workflow', 'bundle, bytes of code', 'first task, replayed, ms', 'whole saga, replayed, ms', 'load'];
  say(`\n## Before the first step\n\n${markdownTable(head, rows)}`);
}
