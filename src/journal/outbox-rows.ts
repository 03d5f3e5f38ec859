/** How rows of the outbox are written; see outbox.ts. */
import type { NotificationEvent } from '../domain/notifications';
import type { WaitKind } from '../domain/progress';
import { nowMs } from './dialects';
import type { Tx } from './rows';

/** One event for one route. */
export interface Notice {
  id: string;
  route: string;
  namespace: string;
  workflowId: string;
  reference: string;
  event: NotificationEvent;
  kind: WaitKind | undefined;
  account: string | undefined;
  /** Sealed. */
  body: string;
}

/** A second call with the same ids changes nothing. */
export async function insertNotices(tx: Tx, notices: readonly Notice[]): Promise<void> {
  for (const { workflowId, kind, account, ...notice } of notices) {
    const now = nowMs(tx);
    await tx
      .insertInto('outbox')
      .values({
        ...notice,
        workflow_id: workflowId,
        kind: kind ?? null,
        account: account ?? null,
        created_ms: now,
        since_ms: now,
        next_ms: now,
      })
      .onConflict((conflict) => conflict.columns(['id', 'route']).doNothing())
      .execute();
  }
}
