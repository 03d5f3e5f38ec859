/**
 * The canaries' way through everything: each workflow, each class of failure, each way to fail, each decision, the
 * refusals, the command line. Whatever anybody gets to see on it is recorded by its place.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import type { FaultSpec } from '../../../sandbox/faults';
import type { EndpointName } from '../../../sandbox/endpoints';
import type { Sandbox } from '../../../sandbox/server';
import type { OrderSagaClient } from '../../../src/client/client';
import type { SagaHandle } from '../../../src/client/handle';
import type { DecisionName } from '../../../src/domain/decisions';
import { workflowIdOf } from '../../../src/domain/identity';
import type { ProgressView } from '../../../src/domain/progress';
import { runHere } from '../../support/command-line';
import { changeRequest, firewallsRequest, planIdOf, provisionRequest, switchRequest } from '../../support/requests';
import { answer, progressOf, untilState, untilWaiting } from '../../support/sagas';
import type { Witness } from './witness';
import type { Secrets } from './secrets';

export interface World {
  secrets: Secrets;
  /** In notes, reasons and the provider's words. */
  confided: string;
  witness: Witness;
  sandbox: Sandbox;
  temporal: Client;
  sagas: OrderSagaClient;
  /** In the same namespace; its worker's provider cannot be reached. */
  unreachable: OrderSagaClient;
  environment: Record<string, string>;
  /** For files that the command line reads. */
  folder: string;
}

export class Journey {
  /** The events on the way, by the names of the domain. */
  readonly seen = {
    workflows: new Set<string>(),
    callFailures: new Set<string>(),
    sagaFailures: new Set<string>(),
    decisions: new Set<string>(),
  };

  constructor(private readonly world: World) {}

  async travel(): Promise<void> {
    await this.held();
    await Promise.all([this.buy(), this.echoed(), this.stuck(), this.unknown(), this.otherWorkflows(), this.outside()]);
    await this.commandLine();
    await this.lookBack();
  }

  /** Nothing else may be started meanwhile: the hold is for all. */
  private async held(): Promise<void> {
    const { sagas } = this.world;
    await sagas.hold({ by: 'ann', note: 'a test' });
    const saga = await this.order();
    await untilState(saga, 'held');
    await sagas.release();
    await this.end(saga);
  }

  private async buy(): Promise<void> {
    const { secrets, sagas } = this.world;
    const request = this.orderRequest({ firewalls: [143] });
    const saga = await sagas.provision(request);
    await this.end(saga);
    const [item] = request.items;
    const other = { ...request, items: [{ ...item, password: secrets.refused.text }] };
    await this.fails(sagas.provision(other as never));
    // Past the client: the journal knows the reference.
    await this.startRaw(other);
    await this.end(saga);

    // An answer of success may tell what was asked for, too; and one without ids asks a person for them.
    const talkative = this.orderRequest({ firewalls: [143] });
    this.fault('place-order', talkative, {
      kind: 'other-body',
      body: {
        status: 'accepted',
        items: talkative.items,
        root_password: secrets.password.text,
        servers: [{ Password: secrets.password.text, sshKey: secrets.keyBase64 }],
        message: `the password is ${secrets.password.text}, the script ${secrets.script.text}`,
      },
    });
    const asked = await sagas.provision(talkative);
    await this.wait(asked);
    await this.refusedDecisions(asked);
    await this.decideAndEnd(asked, 'provideServers', { vmObjectIds: [99_001] });

    // A secret by its name, whose file does not hold what it must.
    const named = await this.order({}, { custom_script: { secret: 'script' } });
    await this.wait(named);
    await this.decideAndEnd(named, 'retry', { correction: { custom_script: secrets.scriptBase64 } });
  }

  /** Refusals of the item, and of the order, that quote what they refuse in all the ways that there are. */
  private async echoed(): Promise<void> {
    const { password, key, script, keyBase64, scriptBase64, token } = this.world.secrets;
    const item = { password: password.text, custom_ssh_key: keyBase64, custom_script: scriptBase64 };
    const bodies: unknown[] = [
      { message: `the password ${password.text} is weak`, errors: [`key ${key.text}`, `script ${script.text}`] },
      { message: `refused: ${JSON.stringify(item)}`, deep: { deeper: [{ item }] } },
      { message: `refused: ${JSON.stringify(JSON.stringify(item))}` },
      { url: `/add?password=${encodeURIComponent(password.text)}&key=${encodeURIComponent(keyBase64)}` },
      { base64: Buffer.from(password.text).toString('base64'), key: keyBase64 },
      { message: this.world.confided },
      { headers: { authorization: `Bearer ${token.text}` }, message: `the token ${token.text} is not known` },
      { message: `${'x'.repeat(470)}${password.text}`, more: `${'y'.repeat(480)} ${token.text}` },
      `<html>${password.text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')}</html>`,
    ];
    await Promise.all(
      bodies.flatMap((body) => [
        this.refusedWith('add-cart-item', { kind: 'refuse-before', body }),
        this.refusedWith('place-order', { kind: 'refuse-before', body }),
      ]),
    );
    await this.refusedWith('add-cart-item', { kind: 'error-code', code: 422 });
  }

  private async refusedWith(endpoint: EndpointName, fault: Partial<FaultSpec>): Promise<void> {
    const request = this.orderRequest();
    this.fault(endpoint, request, fault);
    await this.end(await this.world.sagas.provision(request));
  }

  private async stuck(): Promise<void> {
    const { secrets, sagas, temporal } = this.world;
    const faults: Partial<FaultSpec>[] = [
      { kind: 'rate-limit', times: 3 },
      { kind: 'unauthorized' },
      { kind: 'redirect', location: `https://elsewhere.test/?token=${encodeURIComponent(secrets.token.text)}` },
      { kind: 'error-before', times: 3, body: { message: secrets.password.text } },
      { kind: 'other-body', times: 3, body: { message: secrets.password.text, password: secrets.password.text } },
    ];
    const correct = async (fault: Partial<FaultSpec>) => {
      const request = this.orderRequest();
      this.fault('add-cart-item', request, fault);
      const saga = await sagas.provision(request);
      await this.wait(saga);
      await this.refusedDecisions(saga);
      await this.decideAndEnd(saga, 'retry', { correction: { password: secrets.corrected.text } });
    };
    const cancel = async () => {
      const request = this.orderRequest();
      this.fault('add-cart-item', request, { kind: 'error-after', times: 3, body: { request } });
      await this.cancel(await sagas.provision(request));
    };
    const leaveAndClean = async () => {
      const request = this.orderRequest();
      this.fault('place-order', request, { kind: 'unauthorized' });
      const saga = await sagas.provision(request);
      await this.wait(saga);
      await temporal.workflow.getHandle(saga.workflowId).terminate('left on purpose');
      await this.end(saga);
      const cleaning = await sagas.start('cleanCart', { reference: request.reference });
      await this.end(cleaning);
    };
    const nowhere = async () => this.cancel(await this.world.unreachable.provision(this.orderRequest()));
    await Promise.all([...faults.map(correct), cancel(), leaveAndClean(), nowhere()]);
  }

  private async unknown(): Promise<void> {
    const { sagas, secrets } = this.world;
    const body = { message: `${secrets.token.text} ${secrets.password.text}` };
    const ways: [Partial<FaultSpec>, 'confirmPlaced' | 'confirmNotPlaced'][] = [
      [{ kind: 'error-after', body }, 'confirmPlaced'],
      [{ kind: 'reset-before' }, 'confirmNotPlaced'],
    ];
    for (const [fault, decision] of ways) {
      const request = this.orderRequest();
      this.fault('place-order', request, fault);
      const saga = await sagas.provision(request);
      await this.wait(saga);
      await this.decideAndEnd(saga, decision, { note: this.world.confided });
    }
  }

  /** They carry no password; the provider's token goes with every call. */
  private async otherWorkflows(): Promise<void> {
    const { sagas, sandbox, secrets } = this.world;
    const body = { received: { authorization: `Bearer ${secrets.token.text}` }, message: secrets.token.text };
    const change = (subscription_id: number, more: object = {}) =>
      sagas.change(changeRequest({ subscription_id, ...more }));
    const switching = (plan_id: number) => sagas.switch(switchRequest({ subscription_id: 6_000 + plan_id, plan_id }));
    sandbox.configure({ unavailableSubscriptions: [5_001], unavailablePlans: [77] });

    const refused = { subscriptionId: 5_005 };
    sandbox.faults.add({ endpoint: 'place-change-order', kind: 'refuse-before', match: refused, body });
    const approved = await change(5_003, { approval: 'always' });
    await this.wait(approved);
    await this.decideAndEnd(approved, 'approve');
    const rejected = await change(5_004, { approval: 'always' });
    await this.wait(rejected);
    await this.decideAndEnd(rejected, 'reject', { reason: this.world.confided });
    const ends: Promise<SagaHandle>[] = [
      change(5_001),
      change(5_002, { guard: { maxTotal: 1 } }),
      change(5_005),
      change(5_006, { notAfter: '2026-01-01T00:00:00Z' }),
      switching(77),
      switching(21),
      this.firewalls(7_001, { assign: [143] }, { endpoint: 'assign-firewalls', kind: 'refuse-before', body }),
      this.firewalls(7_002, { exactly: [143] }, { endpoint: 'list-firewalls', kind: 'other-body', body }),
    ];
    await Promise.all(ends.map(async (saga) => this.end(await saga)));

    for (const [vmObjectId, decision] of [
      [7_003, 'skip'],
      [7_004, 'markDone'],
    ] as const) {
      const emptyList: FaultSpec = { endpoint: 'list-firewalls', kind: 'other-body', times: 'all', body: [] };
      const missing = await this.firewalls(vmObjectId, { assign: [143] }, emptyList);
      await this.wait(missing);
      await this.decideAndEnd(missing, decision, { note: this.world.confided });
    }
  }

  private firewalls(vmObjectId: number, request: object, fault: FaultSpec): Promise<SagaHandle> {
    this.world.sandbox.faults.add({ ...fault, match: { vmObjectId } });
    const { reference } = firewallsRequest();
    return this.world.sagas.firewalls({ reference, vmObjectId, ...request });
  }

  /** Requests that are wrong, once past the client and once past a client that does not look. */
  private async outside(): Promise<void> {
    const { sagas, temporal, witness, secrets } = this.world;
    const wrong = this.wrongRequest();
    await this.fails(sagas.provision(wrong as never));
    const workflowId = await this.startRaw(wrong);
    await this.end(await sagas.get(wrong.reference, 'provisionServers'));

    const odd = { ...this.wrongRequest(), items: secrets.refused.text };
    await this.startRaw(odd);
    await this.end(await sagas.get(odd.reference, 'provisionServers'));
    witness.add('errors', await temporal.workflow.getHandle(workflowId).result().catch(String));
  }

  private async startRaw(request: { reference: string }): Promise<string> {
    const workflowId = workflowIdOf('provisionServers', request.reference);
    const options = { workflowId, taskQueue: 'order-saga', args: [request] };
    await this.world.temporal.workflow.start('provisionServers', options);
    return workflowId;
  }

  private async commandLine(): Promise<void> {
    const { secrets, folder, sagas } = this.world;
    const file = (name: string, content: string) => {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    };
    const wrong = JSON.stringify(this.wrongRequest());
    const request = this.orderRequest();
    const refused = this.orderRequest();
    this.fault('add-cart-item', refused, { kind: 'refuse-before', body: { password: secrets.password.text } });
    const waiting = this.orderRequest();
    this.fault('add-cart-item', waiting, { kind: 'unauthorized' });
    await this.wait(await sagas.provision(waiting));
    const correction = (more: object = {}) =>
      JSON.stringify({ correction: { password: secrets.corrected.text, ...more } });

    for (const args of [
      ['provision', file('wrong.json', wrong)],
      ['provision', file('cut.json', wrong.slice(0, -20)), '--json'],
      ['provision', file('good.json', JSON.stringify(request)), '--json'],
      ['provision', file('refused.json', JSON.stringify(refused))],
      ['status', waiting.reference],
      ['decide', waiting.reference, 'retry', correction({ color: secrets.refused.text })],
      ['decide', waiting.reference, 'retry', correction().slice(0, -1)],
      ['decide', waiting.reference, 'retry', correction(), '--json'],
      ['watch', waiting.reference, '--json'],
      ['status', refused.reference, '--json'],
      ['list', '--json'],
      ['record', refused.reference],
      ['record', waiting.reference, '--timeline'],
      ['journal', 'status'],
    ]) {
      const { out, err } = await runHere(args, '', this.world.environment);
      this.world.witness.add('what the command line prints', `${out}\n${err}\n`);
    }
  }

  /** Every run as Temporal tells it, to people with the keys and without. */
  private async lookBack(): Promise<void> {
    const { temporal, witness, sagas } = this.world;
    for await (const listed of temporal.workflow.list()) {
      witness.add('descriptions and lists', listed);
      this.seen.workflows.add(listed.type);
      const run = temporal.workflow.getHandle(listed.workflowId, listed.runId);
      witness.add('exported histories', await run.fetchHistory());
      const description = await run.describe();
      witness.add('descriptions and lists', description);
      witness.add('descriptions and lists', await description.staticSummary());
    }
    for await (const row of sagas.list()) witness.add('descriptions and lists', row);
  }

  /** A decision that does not fit, with a secret in it. */
  private async refusedDecisions(saga: SagaHandle): Promise<void> {
    const { refused } = this.world.secrets;
    const bodies = [{ correction: { password: refused.text, color: refused.text } }, { correction: refused.text }];
    const { waiting } = await saga.progress();
    const named = [...bodies, { by: 'you', password: refused.text }].map((body) => ({
      question: waiting?.id,
      ...body,
    }));
    for (const body of [...named, refused.text]) {
      await this.fails(saga.decide('retry', body));
      // Past the client, which would refuse it before it leaves.
      const run = this.world.temporal.workflow.getHandle(saga.workflowId);
      await this.fails(run.executeUpdate('retry', { args: [body] }));
    }
  }

  private async fails(call: Promise<unknown>): Promise<void> {
    const error: unknown = await call.then(
      () => new Error('should have failed'),
      (reason: unknown) => reason,
    );
    if ((error as Error).message === 'should have failed') throw error;
    this.addError(error);
  }

  private addError(error: unknown): void {
    this.world.witness.add('errors', error);
    this.world.witness.add('errors', (error as Error).stack);
  }

  private async wait(saga: SagaHandle): Promise<void> {
    await untilWaiting(saga);
    this.see(await progressOf(saga));
  }

  private async decideAndEnd(saga: SagaHandle, ...decision: [name: DecisionName, body?: object]): Promise<void> {
    await answer(saga, ...decision);
    this.see(await progressOf(saga));
    await this.end(saga);
  }

  private async cancel(saga: SagaHandle): Promise<void> {
    await this.wait(saga);
    await saga.cancel();
    await this.end(saga);
  }

  private async end(saga: SagaHandle): Promise<void> {
    try {
      await saga.result();
    } catch (error) {
      const { type } = error as { type?: string };
      if (type !== undefined) this.seen.sagaFailures.add(type);
      this.addError(error);
    }
    this.see(await progressOf(saga));
  }

  private see(progress: ProgressView): void {
    this.world.witness.add('progress', progress);
    const failure = progress.waiting?.lastFailure?.failure;
    if (failure !== undefined) this.seen.callFailures.add(failure);
    for (const { decision } of progress.decisions) this.seen.decisions.add(decision);
    if (progress.state === 'reversed' && JSON.stringify(progress).includes('was answered 4')) {
      this.seen.callFailures.add('Rejected');
    }
  }

  private order(changes: object = {}, item: object = {}): Promise<SagaHandle<'provisionServers'>> {
    return this.world.sagas.provision(this.orderRequest(changes, item));
  }

  private orderRequest(changes: object = {}, item: object = {}) {
    const { password, keyBase64, scriptBase64 } = this.world.secrets;
    const secret = { password: password.text, custom_ssh_key: keyBase64, custom_script: scriptBase64 };
    return provisionRequest({ items: [{ ...secret, ...item }], ...changes });
  }

  /** Wrong in every field that is a secret, and a secret in fields that are wrong. */
  private wrongRequest() {
    const { refused } = this.world.secrets;
    const { reference, ...request } = this.orderRequest();
    const [item] = request.items;
    return {
      ...request,
      reference,
      account: refused.text,
      currency: { password: refused.text },
      items: [
        { ...item, plan_type: refused.text, custom_ssh_key: refused.text, custom_script: { secret: refused.text } },
        { ...item, billing_cycle: refused.text, password: [refused.text], secret: refused.text, addons: refused.text },
        { password: refused.text },
      ],
    };
  }

  private fault(endpoint: EndpointName, { reference }: { reference: string }, fault: Partial<FaultSpec>): void {
    const match = endpoint === 'place-order' ? { label: reference } : { planId: planIdOf(reference) };
    this.world.sandbox.faults.add({ endpoint, match, ...fault } as FaultSpec);
  }
}
