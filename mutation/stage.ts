/**
 * A rig without a server, put in the place of `test/support/rig.ts`: workflows run in the SDK's own sandbox, activities in its
 * own test environment, against the same provider's sandbox; between them stands this file, and staged-run.ts. A saga takes
 * milliseconds here, which is what makes a thousand mutants affordable.
 *
 *   client ── job ──▶ workflow sandbox ── command ──▶ timer, activity, end
 *                          ▲                              │
 *                          └───────────── job ────────────┘
 *
 * A reset gives a new run what the old one was told up to then, and goes on from there. There are no replays and no namespaces;
 * the tests that need them are named in rooms.ts and jest-environment.js.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Client, WorkflowStartOptions } from '@temporalio/client';
import {
  defaultFailureConverter,
  defaultPayloadConverter,
  defineSearchAttributeKey,
  SearchAttributeType,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
} from '@temporalio/common';
import { createActivities } from '../src/activities/index';
import { OrderSagaClient } from '../src/client/client';
import { searchAttributeNames } from '../src/domain/identity';
import { ProviderClient } from '../src/provider/client';
import { createSecretResolver } from '../src/security/secret-resolver';
import { Sandbox } from '../sandbox/server';
import { rigSettings } from '../test/support/activity-settings';
import type { RigOptions } from '../test/support/rig';
import { Run, type Activity } from './staged-run';

interface ResetRequest {
  workflowExecution: { workflowId: string; runId: string | null };
  /** Event id. */
  workflowTaskFinishEventId: number;
}

const stateKey = defineSearchAttributeKey(searchAttributeNames.state, SearchAttributeType.KEYWORD);

/** What it throws comes as a rejection, as from a server. */
function settled<T>(answer: () => T): Promise<T> {
  return Promise.resolve().then(answer);
}

export class Rig {
  readonly temporal = new Stage(this) as unknown as Client;
  readonly sagas = new OrderSagaClient(this.temporal);

  private constructor(
    readonly sandbox: Sandbox,
    private readonly provider: ProviderClient,
    readonly activities: Record<string, Activity>,
  ) {}

  static async start(options: RigOptions = {}): Promise<Rig> {
    const sandbox = await Sandbox.start({ orderResponse: 'ids', anyServer: true, ...options.sandbox });
    const provider = new ProviderClient({
      baseUrl: sandbox.url,
      connectTimeoutMs: 2_000,
      totalTimeoutMs: 10_000,
      pauseMaxMs: 0,
    });
    const activities = createActivities({
      provider,
      secrets: createSecretResolver({ variable: () => undefined, ...options.secrets }),
      settings: { ...rigSettings, ...options.activities },
    });
    return new Rig(sandbox, provider, activities as unknown as Record<string, Activity>);
  }

  async close(): Promise<void> {
    await (this.temporal as unknown as Stage).close();
    await this.provider.close();
    await this.sandbox.close();
  }
}

export async function until<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await pause(5);
  }
}

/** As much of the SDK's client as sagas and their tests use. */
class Stage {
  readonly options = {
    namespace: 'stage',
    loadedDataConverter: {
      payloadConverter: defaultPayloadConverter,
      failureConverter: defaultFailureConverter,
      payloadCodecs: [],
    },
  };
  readonly workflow = {
    start: async (type: string, options: WorkflowStartOptions) => {
      const run = await this.startRun(type, options);
      return { ...this.handleOf(() => run), firstExecutionRunId: run.runId };
    },
    getHandle: (workflowId: string, runId?: string) => ({
      workflowId,
      ...this.handleOf(() => this.find(workflowId, runId)),
    }),
    result: (workflowId: string, runId: string) => this.find(workflowId, runId).ended,
    /** Of a query only the workflow ids are read, or what state it asks for. */
    list: ({ query }: { query: string }) => this.list(query),
  };
  readonly workflowService = {
    resetWorkflowExecution: async ({ workflowExecution, workflowTaskFinishEventId }: ResetRequest) => {
      const { workflowId, runId } = workflowExecution;
      return { runId: (await this.reset(this.find(workflowId, runId ?? undefined), workflowTaskFinishEventId)).runId };
    },
  };
  /** The newest first. */
  private readonly runs: Run[] = [];

  constructor(private readonly rig: Rig) {}

  withDeadline<T>(_deadline: number, call: () => Promise<T>): Promise<T> {
    return call();
  }

  withAbortSignal<T>(_signal: AbortSignal, call: () => Promise<T>): Promise<T> {
    return call();
  }

  async close(): Promise<void> {
    for (const run of this.runs) await run.drop();
  }

  private async startRun(type: string, options: WorkflowStartOptions): Promise<Run> {
    const { workflowId } = options;
    const known = this.runs.find((run) => run.workflowId === workflowId);
    if (known?.status === 'RUNNING' && options.workflowIdConflictPolicy === 'USE_EXISTING') return known;
    if (known?.status === 'RUNNING' || (known && options.workflowIdReusePolicy === 'REJECT_DUPLICATE')) {
      throw new WorkflowExecutionAlreadyStartedError('it is there already', workflowId, type);
    }
    const run = new Run(type, workflowId, this.rig);
    this.runs.unshift(run);
    await run.begin(options);
    return run;
  }

  private async reset(from: Run, task: number): Promise<Run> {
    const latest = this.find(from.workflowId);
    const run = new Run(from.type, from.workflowId, this.rig, from.firstRunId);
    this.runs.unshift(run);
    if (latest.status === 'RUNNING') latest.terminate('it was reset');
    await run.goOn(from, task);
    return run;
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- the client's list is asynchronous
  private async *list(query: string): AsyncGenerator<ReturnType<Run['describe']>> {
    const names = [...query.matchAll(/'([^']*)'/g)].map(([, name]) => name);
    const state = (run: Run) => names.at(-1) === run.searchAttributes.get(stateKey);
    const matches = (run: Run) => (query.includes('State') ? state(run) : names.includes(run.workflowId));
    for (const run of this.runs) if (matches(run)) yield run.describe();
  }

  private find(workflowId: string, runId?: string): Run {
    const run = this.runs.find((one) => one.workflowId === workflowId && (runId ?? one.runId) === one.runId);
    if (!run) throw new WorkflowNotFoundError('there is no such run', workflowId, runId);
    return run;
  }

  private handleOf(find: () => Run) {
    const running = () => {
      const run = find();
      if (run.status === 'RUNNING') return run;
      throw new WorkflowNotFoundError('workflow execution already completed', run.workflowId, run.runId);
    };
    return {
      result: async () => find().ended,
      describe: () => settled(() => find().describe()),
      fetchHistory: () => settled(() => ({ events: find().events })),
      query: async (name: string) => find().query(name),
      signal: async (name: string, ...args: unknown[]) => running().signal(name, args),
      executeUpdate: async (name: string, { args }: { args: unknown[] }) => running().update(name, args),
      cancel: async () => running().cancel(),
      terminate: (reason = '') =>
        settled(() => {
          running().terminate(reason);
        }),
    };
  }
}
