/**
 * Notices when sagas wait for a person, many at once: one look into the list that an operator looks into serves them
 * all. Asking each saga for its progress again and again would cost more than the sagas.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { OrderSagaClient } from '../../src/client/client';

const lookEveryMs = 250;

export class WaitingRoom {
  private readonly expected = new Map<string, () => void>();
  private looking: Promise<void> | undefined;

  constructor(private readonly sagas: OrderSagaClient) {}

  /** Resolves when the list shows that this saga waits. It may show so for a moment after the wait is over. */
  whenListed(workflowId: string): Promise<void> {
    const listed = new Promise<void>((resolve) => this.expected.set(workflowId, resolve));
    this.looking ??= this.look();
    return listed;
  }

  /** Nobody waits for this saga to wait any more. */
  forget(workflowId: string): void {
    this.expected.delete(workflowId);
  }

  private async look(): Promise<void> {
    while (this.expected.size > 0) {
      await pause(lookEveryMs);
      for await (const { workflowId } of this.sagas.list({ state: 'waiting' })) {
        this.expected.get(workflowId)?.();
        this.expected.delete(workflowId);
      }
    }
    this.looking = undefined;
  }
}
