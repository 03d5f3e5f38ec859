/** One real saga, with everything that a history does to it; what is told to it is true, as the ledger knows. */
import { setTimeout as pause } from 'node:timers/promises';
import type { EndpointName } from '../../../sandbox/endpoints';
import { DecisionRefusedError, NoWorkerError, SagaEndedError } from '../../../src/client/errors';
import { SagaHandle } from '../../../src/client/handle';
import type { DecisionName } from '../../../src/domain/decisions';
import { isOutcome } from '../../../src/domain/outcomes';
import type { ProgressView } from '../../../src/domain/progress';
import { fittingDecisions, operate, type Fitting } from '../../support/operator';
import { brokenPromises, placementsOf, type Asked } from '../../support/promises';
import { changeRequest, firewallsRequest, provisionRequest, switchRequest } from '../../support/requests';
import { resetTo, workflowTasksOf } from '../../support/web-ui';
import type { Rig } from '../../support/rig';
import { callsOf } from '../../support/saga-calls';
import { outcomeOf, progressOf, type Ended } from '../../support/sagas';
import type { Armed } from './model';
import type { Story } from './sagas';

/** Nobody else's ids are there: servers of orders count from 9001, and other requests of this file beside it. */
const ownIdsFrom = 1_000_000;
let ownIds = 0;

export class RealSaga {
  readonly asked: Asked;
  private readonly saga: SagaHandle;
  private readonly faults = new Map<EndpointName, { trouble?: string; gate?: string }>();
  private wasReset = false;
  private wasTerminated = false;

  constructor(
    private readonly rig: Rig,
    story: Story,
  ) {
    this.asked = askedBy(story);
    const { workflow, request } = this.asked;
    if (workflow === 'setFirewalls') {
      const { vmObjectId } = request;
      rig.sandbox.addServer({ vmObjectId, firewalls: story.protectedBy ?? [] });
    }
    this.saga = new SagaHandle(rig.temporal, workflow, request.reference, '', true);
  }

  async start(): Promise<'new' | 'existing'> {
    const { existing } = await this.rig.sagas.start(this.asked.workflow, this.asked.request);
    return existing ? 'existing' : 'new';
  }

  arm(endpoint: EndpointName, { trouble, lasting, held }: Armed): void {
    const { faults } = this.rig.sandbox;
    const match = callsOf(this.asked);
    const armed = this.faults.get(endpoint) ?? {};
    if (trouble) {
      const { kind } = trouble;
      // A new server makes no “not yet” of these.
      const said = kind === 'refuse-before' ? { status: 402 } : kind === 'error-code' ? { code: 402 } : {};
      armed.trouble = faults.add({ endpoint, match, kind, ...said, ...(lasting ? { times: 'all' } : {}) });
    }
    if (held) armed.gate = faults.add({ endpoint, match, kind: 'gate', hold: 'after' });
    this.faults.set(endpoint, armed);
  }

  /** No more troubles; what is held goes on. */
  disarm(): void {
    for (const { trouble, gate } of this.faults.values()) {
      for (const id of [trouble, gate]) if (id !== undefined) this.rig.sandbox.faults.lift(id);
    }
    this.faults.clear();
  }

  /** Lets the held call go on; troubles that were armed stay. */
  release(endpoint: EndpointName): void {
    const armed = this.faults.get(endpoint);
    if (armed?.gate === undefined) throw new Error(`no call to ${endpoint} is held`);
    this.rig.sandbox.faults.release(armed.gate);
    delete armed.gate;
  }

  /** The operator's true answers to what it waits for, naming the question. */
  async fitting(): Promise<Fitting[]> {
    const { waiting } = await this.progress();
    if (waiting === undefined) return [];
    return fittingDecisions(waiting, this.rig.sandbox.ledger, this.asked)
      .filter(({ decision }) => decision !== 'cancel' && decision !== 'markDone')
      .map(({ decision, body }) => ({ decision, body: { ...body, question: waiting.id } }));
  }

  decide(decision: DecisionName, body: unknown): Promise<'taken' | 'refused' | 'ended'> {
    return this.decideIn(this.saga, decision, body);
  }

  private async decideIn(saga: SagaHandle, decision: DecisionName, body: unknown) {
    const taken = async () => (await progressOf(saga)).decisions.length;
    const before = await taken();
    for (;;) {
      try {
        await saga.decide(decision, body);
        return 'taken';
      } catch (error) {
        if (error instanceof SagaEndedError) return 'ended';
        const isRefused = error instanceof DecisionRefusedError;
        if (!isRefused && !(error instanceof NoWorkerError)) throw error;
        // A worker that stops may take a decision with it, or may have taken it: the progress tells.
        if ((await taken()) > before) return 'taken';
        if (isRefused) return 'refused';
      }
    }
  }

  async cancel(): Promise<'asked' | 'ended'> {
    try {
      await this.saga.cancel();
      return 'asked';
    } catch (error) {
      if (error instanceof SagaEndedError) return 'ended';
      throw error;
    }
  }

  /** As the Web UI does it; `pick` chooses among the finished workflow tasks of the run that there is. */
  async reset(pick: number): Promise<string> {
    const { workflowId } = this.saga;
    const points = await workflowTasksOf(this.rig.temporal, { workflowId });
    const point = points[pick % points.length] ?? 0;
    await resetTo(this.rig.temporal, { workflowId }, point);
    this.wasReset = true;
    return `to event ${point}`;
  }

  async terminate(): Promise<void> {
    this.wasTerminated = true;
    await this.rig.temporal.workflow.getHandle(this.saga.workflowId).terminate('a history of the model');
  }

  async progress(): Promise<ProgressView> {
    for (;;) {
      try {
        return await this.saga.progress({ withinMs: 2_000 });
      } catch (error) {
        // A question may be lost on its way to a worker that stops: it is asked again.
        if (!(error instanceof NoWorkerError)) throw error;
      }
    }
  }

  get held(): EndpointName | undefined {
    const { faultsStruck } = this.rig.sandbox.ledger;
    const isStruck = (gate?: string) => gate !== undefined && faultsStruck.some(({ faultId }) => faultId === gate);
    return [...this.faults].find(([, { gate }]) => isStruck(gate))?.[0];
  }

  /** Waits until it has come to rest: it waits for a person, has ended, or a call of it is held. */
  async rest(): Promise<ProgressView> {
    for (let delayMs = 15; ; delayMs = Math.min(delayMs * 1.5, 250)) {
      // In this order: what is shown of a saga whose call is held is as new as that.
      const wasHeld = this.held !== undefined;
      const view = await this.progress();
      if (wasHeld || view.waiting !== undefined || isOutcome(view.state)) return view;
      await pause(delayMs);
    }
  }

  get placements(): number {
    return placementsOf(this.rig.sandbox.ledger, this.asked).length;
  }

  /** @returns every promise that was broken, once the saga has ended */
  async broken(): Promise<string[]> {
    const { ledger } = this.rig.sandbox;
    if (this.placements > 1) return [`placed ${this.placements} times`];
    const ended: Ended = this.wasTerminated ? {} : await outcomeOf(this.saga);
    // A run after a reset answers for itself. What runs before it left is cleaned up like what a terminated one left.
    const answersForAll = !this.wasTerminated && (!this.wasReset || ended.result !== undefined);
    if (answersForAll) return brokenPromises(ledger, this.asked, ended);
    return this.asked.workflow === 'provisionServers' ? this.clean() : [];
  }

  private async clean(): Promise<string[]> {
    const asked: Asked = { workflow: 'cleanCart', request: { reference: this.asked.request.reference } };
    const cleaning: SagaHandle = await this.rig.sagas.clean(asked.request.reference);
    const ended = await operate(this.rig, cleaning, asked);
    const broken = brokenPromises(this.rig.sandbox.ledger, asked, ended);
    return ended.result === undefined ? [...broken, 'the cart could not be cleaned'] : broken;
  }
}

function askedBy({ workflow, request }: Story): Asked {
  ownIds += 1;
  const id = ownIdsFrom + ownIds;
  switch (workflow) {
    case 'provisionServers':
      return { workflow, request: provisionRequest(request) };
    case 'changeOrder':
      return { workflow, request: changeRequest({ subscription_id: id, ...request }) };
    case 'switchPlan':
      return { workflow, request: switchRequest({ subscription_id: id, ...request }) };
    case 'setFirewalls':
      return { workflow, request: firewallsRequest({ vmObjectId: id, assign: undefined, ...request }) };
  }
}
