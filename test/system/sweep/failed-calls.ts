/** The provider calls that failed, as a saga's history has them. */
import type { Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { decodeOptionalFailureToOptionalError } from '@temporalio/common/lib/internal-non-workflow';
import type { temporal } from '@temporalio/proto';
import type { Call } from '../../../sandbox/ledger';
import type { CallFailure } from '../../../src/domain/failures';

export interface FailedCall {
  /** `DELETE /order/cartItems/delete/{cart_item_id}` */
  endpoint: string;
  /** Whether it may be this call, as the sandbox received it. */
  is: (call: Call) => boolean;
}

export async function failedCalls(
  client: Client,
  events: readonly temporal.api.history.v1.IHistoryEvent[],
): Promise<FailedCall[]> {
  const { loadedDataConverter } = client.options;
  const failures = await Promise.all(
    events.map(({ activityTaskFailedEventAttributes: failed }) =>
      decodeOptionalFailureToOptionalError(loadedDataConverter, failed?.failure),
    ),
  );
  const told = failures.map((failure) => (failure instanceof ApplicationFailure ? failure.details?.[0] : undefined));
  // A look in a call that changed something fails, and the call does not.
  const looks = events.map(({ activityTaskCompletedEventAttributes: done }) => {
    const [result] = done?.result?.payloads ?? [];
    const answer = result && loadedDataConverter.payloadConverter.fromPayload<Answer | null>(result);
    return answer?.value?.failed;
  });
  return [...told, ...looks].flatMap((failed) => {
    const { endpoint } = (failed ?? {}) as Partial<CallFailure>;
    return endpoint === undefined ? [] : [{ endpoint, is: (call: Call) => fits(endpoint, call) }];
  });
}

interface Answer {
  value?: { failed?: CallFailure } | null;
}

function fits(endpoint: string, { method, path }: Call): boolean {
  const pattern = endpoint.replace(/\{[^}]+\}|\$\w+/g, '[^/]+');
  return new RegExp(`^${pattern}(\\?.*)?$`).test(`${method} ${path}`);
}
