/** Activities without a worker: a journal in a file, the sandbox, and a Temporal that says what the test wants. */
import { beginOf, own } from '../../../src/journal/acquire';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Sender } from '../../../src/notifications/sender';
import type { Client } from '@temporalio/client';
import { ApplicationFailure, defaultPayloadConverter } from '@temporalio/common';
import { msToTs } from '@temporalio/common/lib/time';
import { temporal as proto } from '@temporalio/proto';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type { EndpointName } from '../../../sandbox/endpoints';
import { callsTo } from '../../../sandbox/sentences';
import { Sandbox, type SandboxOptions } from '../../../sandbox/server';
import { createActivities, type Activities, type ActivityNeeds } from '../../../src/activities/index';
import { runStatusOf } from '../../../src/client/saga-list';
import type { JournalCursor } from '../../../src/domain/effects';
import type { CallFailure } from '../../../src/domain/failures';
import { holdWorkflow } from '../../../src/domain/hold';
import { workflowIdOf, type WorkflowName } from '../../../src/domain/identity';
import type { Journal } from '../../../src/journal/journal';
import { effectsOf, insertReference, referenceOf, theJournal, type SagaKey } from '../../../src/journal/rows';
import { openJournal } from '../../../src/journal/open';
import { ProviderClient } from '../../../src/provider/client';
import type { PayloadKeys } from '../../../src/security/keys';
import { createSealing } from '../../../src/security/sealing';
import { createSecretResolver } from '../../../src/security/secret-resolver';
import { grpcCodes } from '../../../src/temporal/service';
import { asJson, rigSettings, sandboxProfile } from '../../support/activity-settings';
import { inMemory } from '../../support/folder';
import { providerAt } from '../../support/stand-in';

type Input<N extends keyof Activities> = Parameters<Activities[N]>[0];
type Answer<N extends keyof Activities> = Awaited<ReturnType<Activities[N]>>;

export class LoneActivities {
  private constructor(
    readonly sandbox: Sandbox,
    readonly journal: Journal,
    readonly provider: ProviderClient,
    /** The journal's file is in it. */
    readonly folder: string,
  ) {}

  static async start({ keys, ...sandbox }: SandboxOptions & { keys?: PayloadKeys } = {}): Promise<LoneActivities> {
    const folder = mkdtempSync(join(inMemory, 'order-saga-activities-'));
    const journal = await openJournal({ file: join(folder, 'journal.db') }, createSealing(keys));
    // The document does not say that an item can be ordered only once.
    const usual = { anyServer: true, orderResponse: 'ids', closedCartItems: 'take' } as const;
    const started = await Sandbox.start({ ...usual, ...sandbox });
    const provider = new ProviderClient({ ...providerAt(started.url), profile: sandboxProfile });
    return new LoneActivities(started, journal, provider, folder);
  }

  async close(): Promise<void> {
    await this.provider.close();
    await this.sandbox.close();
    await this.journal.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** A saga under a reference of its own. */
  saga(needs: Partial<ActivityNeeds> = {}, workflow: WorkflowName = 'provisionServers'): LoneSaga {
    const secrets = createSecretResolver({ variable: () => undefined });
    const { provider, journal } = this;
    const activities = createActivities({
      ...{ provider, journal, secrets, sender: nobody, settings: rigSettings, lookUp: runStatusOf },
      ...needs,
    });
    return new LoneSaga(this, activities, { workflow, reference: randomUUID() }, randomUUID());
  }

  sent(endpoint: EndpointName): number {
    return callsTo(this.sandbox.ledger, endpoint).length;
  }

  get calls(): number {
    return this.sandbox.ledger.calls.length;
  }
}

/** Those of the tests around. */
export let stand: LoneActivities;

export function standAlone(options?: SandboxOptions): void {
  beforeAll(async () => {
    stand = await LoneActivities.start(options);
  });
  afterAll(() => stand.close());
}

/** No call of the provider is made meanwhile. */
export async function nothingSent<T>(work: () => Promise<T>): Promise<T> {
  const before = stand.calls;
  const result = await work();
  expect(stand.calls).toBe(before);
  return result;
}

/** No route leads anywhere. */
const nobody = new Sender({ allowed: [], timeoutMs: 1_000 });

/** Tasks of one run of a saga. */
export class LoneSaga {
  /** False: it goes by what it knows, whoever owns the reference. */
  owns = true;

  constructor(
    private readonly stand: LoneActivities,
    private readonly activities: Activities,
    readonly key: SagaKey,
    readonly run: string,
    private readonly workflowId = workflowIdOf(key.workflow, key.reference),
  ) {}

  /** Another run of the same reference, with other needs where they are named. */
  again(needs: Partial<ActivityNeeds> = {}, run: string = randomUUID()): LoneSaga {
    const { activities } = this.stand.saga(needs, this.key.workflow);
    return new LoneSaga(this.stand, activities, this.key, run);
  }

  /** The same run, by a worker with other needs. */
  with(needs: Partial<ActivityNeeds>): LoneSaga {
    return this.again(needs, this.run);
  }

  /** The clean-up of this reference. */
  get cleaning(): LoneSaga {
    return this.under(workflowIdOf('cleanCart', this.key.reference));
  }

  /** Another workflow, whose activities are the same. */
  under(workflowId: string): LoneSaga {
    const { stand, activities, key } = this;
    return new LoneSaga(stand, activities, key, randomUUID(), workflowId);
  }

  do<N extends keyof Activities>(name: N, asked: Input<N>, temporal = temporalThat()): Promise<Answer<N>> {
    const { workflowId, run: runId } = this;
    const info = { activityType: name, taskToken, workflowExecution: { workflowId, runId } };
    // Refusals are what is tested: they are not logged on the way.
    const logger = new DefaultLogger('ERROR', () => undefined);
    const environment = new MockActivityEnvironment(info, { client: temporal.client, logger });
    const activity = this.activities[name] as (input: Input<N>) => Promise<Answer<N>>;
    return this.asOwner(asked).then((input) => environment.run(() => activity(input)));
  }

  /** A call with an effect names the begin by which its run owns the reference, as the workflow lets it. */
  private async asOwner<I>(input: I): Promise<I> {
    const { step, cursor } = (input ?? {}) as { step?: string; cursor?: JournalCursor };
    const { key, run, workflowId, stand } = this;
    if (step === undefined || !this.owns || workflowId !== workflowIdOf(key.workflow, key.reference)) return input;
    const { journal } = stand;
    const owned = await journal.inTransaction(async (tx) => {
      const { id, epoch } = await theJournal(tx);
      const taken = await referenceOf(tx, key);
      if (taken === undefined) await insertReference(tx, key, run, epoch);
      const { owner, fence } = taken ?? {};
      const number = owner === beginOf(run, fence) ? fence : await own(tx, key, { run });
      return { journal: id, epoch, ...cursor, fence: number };
    });
    return { ...input, cursor: owned };
  }

  /** How it fails: a call that succeeds fails the test. */
  async refusal<N extends keyof Activities>(name: N, input: Input<N>, temporal?: Temporal): Promise<CallFailure> {
    const error = await this.do(name, input, temporal).then(
      (answer) => new Error(`it was not refused: ${JSON.stringify(answer)}`),
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof ApplicationFailure)) throw error;
    expect(error.nonRetryable).toBe(true);
    const failure = asJson(error.details?.[0]) as CallFailure;
    expect([error.type, error.message]).toEqual([failure.failure, failure.message]);
    return failure;
  }

  /** The journal's rows of the saga's calls, the oldest first. */
  rows() {
    return effectsOf(this.stand.journal.db, this.key);
  }

  /** The same for a person: step, kind, outcome, and the failure's name where it failed. */
  async outcomes(): Promise<string[]> {
    const rows = await this.rows();
    return rows.map(({ step, kind, outcome, failure }) =>
      [step, kind, outcome ?? 'intended', ...(failure === null ? [] : [failure])].join(' '),
    );
  }
}

const { WorkflowExecutionStatus } = proto.api.enums.v1;
const toPayload = (value: unknown) => defaultPayloadConverter.toPayload(value);

const taskToken = Buffer.from('the token of this task');

export interface Temporal {
  client: Client;
}

/** @param statusOf of a workflow's latest run; it throws where there is none */
export function temporalThat(statusOf: (workflowId: string) => string = unlessHold): Temporal {
  const describeWorkflowExecution = ({ execution: { workflowId } }: { execution: { workflowId: string } }) =>
    Promise.resolve().then(() => {
      const status =
        WorkflowExecutionStatus[
          `WORKFLOW_EXECUTION_STATUS_${statusOf(workflowId)}` as 'WORKFLOW_EXECUTION_STATUS_RUNNING'
        ];
      const memo = { fields: { by: toPayload('ann'), note: toPayload('moving the database') } };
      const startTime = msToTs(Date.parse('2026-01-31T22:15:00Z'));
      const info = {
        type: { name: 'any' },
        execution: { workflowId, runId: 'its-run' },
        status,
        memo,
        startTime,
        historyLength: msToTs(0).seconds,
      };
      return { workflowExecutionInfo: info };
    });
  const client = {
    options: {
      namespace: 'the-namespace',
      loadedDataConverter: { payloadCodecs: [], payloadConverter: defaultPayloadConverter },
    },
    connection: { workflowService: { describeWorkflowExecution } },
    withAbortSignal: <T>(_signal: AbortSignal, call: () => T) => call(),
    withDeadline: (_deadline: number, call: () => Promise<unknown>) => call(),
  };
  return { client: client as unknown as Client };
}

/** Sagas are running, and nothing holds new ones. */
function unlessHold(workflowId: string): string {
  if (workflowId === holdWorkflow) throw grpcError(grpcCodes.notFound, 'no such workflow');
  return 'RUNNING';
}

/** An error of Temporal's server, as it comes from the wire. */
export function grpcError(code: number, details: string): Error {
  return Object.assign(new Error(`${code}: ${details}`), { code, details, metadata: { get: () => [] } });
}

/** The journal, with some of what it does done otherwise. */
export function journalThat(
  journal: Journal,
  changes: (journal: Journal) => Partial<Pick<Journal, 'intend' | 'answered'>>,
): Journal {
  return Object.assign(Object.create(journal) as Journal, changes(journal));
}
