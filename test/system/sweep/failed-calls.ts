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
  return failures.flatMap((failure) => {
    const { endpoint } = (failure instanceof ApplicationFailure ? failure.details?.[0] : {}) as Partial<CallFailure>;
    return endpoint === undefined ? [] : [{ endpoint, is: (call: Call) => fits(endpoint, call) }];
  });
}

function fits(endpoint: string, { method, path }: Call): boolean {
  const pattern = endpoint.replace(/\{[^}]+\}|\$\w+/g, '[^/]+');
  return new RegExp(`^${pattern}(\\?.*)?$`).test(`${method} ${path}`);
}
