/**
 * Coming to terms before servers are bought: the caller's guard, and where the request asks for it, a person's approval. No quote:
 * the provider's document has none for an order.
 *
 * Before the first cart item: whoever says no leaves nothing behind that would have to be deleted.
 */
import { describePurchase, purchaseViolations } from '../domain/purchases';
import { approvalExpiresInMs, needsApproval } from '../domain/quotes';
import type { ServersOrdered } from '../domain/plan-types';
import type { ProvisionServersRequest } from '../domain/requests';
import { askApproval } from './approval';
import { placementOf } from './look-back';
import { SagaFailed, type Saga } from './saga';

/** @throws SagaFailed where the guard forbids it, or a person rejects it */
export async function agreeToPurchase(
  saga: Saga,
  request: ProvisionServersRequest,
  ordered: ServersOrdered,
): Promise<void> {
  const { items, guard, approval } = request;
  const violations = purchaseViolations(items, ordered, guard);
  if (violations.length > 0) throw new SagaFailed('GuardViolated', violations.join('; '));
  if (!needsApproval({ total: ordered.most }, approval)) return;
  const step = saga.step('approve', 'Have the purchase approved');
  // By another run: nobody should approve, or reject, what is bought.
  if (saga.journal.inDoubt && (await placementOf(saga)).how !== 'none') {
    return step.end('skipped', 'it was placed before, or perhaps: the journal is asked first');
  }
  step.end('stuck');
  try {
    const question = `Approve ${describePurchase(request, ordered)}? The provider names no price beforehand.`;
    await askApproval(saga, { step, question, expiresInMs: approvalExpiresInMs(approval) });
  } catch (error) {
    step.end('failed');
    throw error;
  }
  step.end('done', 'approved');
}
