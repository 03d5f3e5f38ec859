/** The sagas that a disaster strikes: each stands somewhere else in the middle of its work. */
import type { Sandbox } from '../../../../sandbox/server';
import type { OrderSagaClient } from '../../../../src/client/client';
import type { SagaHandle } from '../../../../src/client/handle';
import type { DecisionName } from '../../../../src/domain/decisions';
import type { Waiting } from '../../../../src/domain/progress';
import type { Asked } from '../../../support/promises';
import { asks, change, firewalls, provision } from '../../../support/asks';
import { until } from '../../../support/rig';
import { callsOf } from '../../../support/saga-calls';
import { answer, persistently, progressOf, untilWaiting } from '../../../support/sagas';

export interface Member {
  role: string;
  asked: Asked;
  saga: SagaHandle;
  /** It may end without having bought anything: a deadline or an expiry was set. */
  mayEndEarly?: true;
}

type Cut = 'before' | 'after';

const order = provision({ firewalls: [143] });

export class Cast {
  readonly members: Member[] = [];
  private gates: string[] = [];

  constructor(
    private readonly sandbox: Sandbox,
    public sagas: OrderSagaClient,
  ) {}

  /** Returns when each stands where its role says. */
  async takePlaces(): Promise<void> {
    for (const nth of [1, 2]) await this.untilItAsks(`waits for an approval (${nth})`);
    await this.untilStuck();
    await this.untilQueued();
    await this.untilInFlight('its order was taken, and the answer is in flight', 'after');
    await this.untilInFlight('its order is in flight', 'before');
  }

  /**
   * After the moment to which something will be restored: what waited is decided, what was in flight arrives, and
   * others come.
   */
  async liveOn(): Promise<void> {
    const approved = this.member('waits for an approval (1)');
    await this.decide(approved, 'approve');
    await approved.saga.result();
    this.letGo();
    await this.untilDone('came and ended in the lost time');
    await this.untilItAsks('came in the lost time, and waits for an approval');
    await this.untilInFlight('came in the lost time; its order was taken, and the answer is in flight', 'after');
  }

  /** @param role how it begins */
  member(role: string): Member {
    const found = this.members.find((one) => one.role.startsWith(role));
    if (found === undefined) throw new Error(`nobody ${role}`);
    return found;
  }

  /** Approved, it wants to go on, and cannot. */
  async getStuck(member: Member): Promise<Waiting> {
    await this.decide(member, 'approve');
    return untilWaiting(member.saga, 'stuck');
  }

  private async untilItAsks(role: string): Promise<Member> {
    const member = await this.send(role, asks.changeOrder['change that is approved']());
    await untilWaiting(member.saga, 'approval');
    return member;
  }

  /** @param cut whether the order has taken effect while its answer is awaited */
  private async untilInFlight(role: string, cut: Cut): Promise<Member> {
    const asked = order();
    const gate = this.hold('place-order', cut, asked);
    const member = await this.send(role, asked);
    await this.sandbox.whenStruck(gate);
    return member;
  }

  private async untilDone(role: string): Promise<void> {
    await (await this.sendNew(role)).saga.result();
  }

  async decide({ saga }: Member, decision: DecisionName): Promise<void> {
    await answer(saga, decision, { by: 'a person' });
  }

  /** Comes now, whatever it meets. */
  sendNew(role: string): Promise<Member> {
    return this.send(role, order());
  }

  /** Whose time may be over before anybody sees to it. @param changes of the request: what ends it early */
  async sendMortal(role: string, changes: Record<string, unknown>): Promise<Member> {
    const member = await this.send(role, change(changes)());
    member.mayEndEarly = true;
    return member;
  }

  /** Calls that are held go on, whoever still listens to their answers. */
  letGo(): void {
    for (const gate of this.gates.splice(0)) this.sandbox.faults.lift(gate);
  }

  /** As a backend does whose requests were perhaps not heard: all of them. */
  async sendAgain(): Promise<void> {
    for (const member of this.members) member.saga = await this.start(member.asked);
  }

  private async send(role: string, asked: Asked): Promise<Member> {
    const member: Member = { role, asked, saga: await this.start(asked) };
    this.members.push(member);
    return member;
  }

  private start({ workflow, request }: Asked): Promise<SagaHandle> {
    return persistently(() => this.sagas.start(workflow, request));
  }

  private async untilStuck(): Promise<void> {
    const asked = order();
    this.sandbox.faults.add({ endpoint: 'add-cart-item', kind: 'unauthorized', match: callsOf(asked) });
    const { saga } = await this.send('stuck', asked);
    await untilWaiting(saga, 'stuck');
  }

  private async untilQueued(): Promise<void> {
    const asked = firewalls()();
    const gate = this.hold('assign-firewalls', 'before', asked);
    await this.send('works on a server', asked);
    await this.sandbox.whenStruck(gate);
    const next = firewalls({ ...callsOf(asked), assign: [150] })();
    const { saga } = await this.send('queued for that server', next);
    await until(async () => (await progressOf(saga)).queued);
  }

  private hold(endpoint: 'place-order' | 'assign-firewalls', cut: Cut, asked: Asked): string {
    const gate = this.sandbox.faults.add({ endpoint, kind: 'gate', hold: cut, match: callsOf(asked) });
    this.gates.push(gate);
    return gate;
  }
}
