/**
 * Runs that visibility shows as sagas that wait. Nobody works on them: they have a saga's type, id and search
 * attributes from their start, so that ten thousand are there within a minute. What is measured with them is reading
 * visibility, and nothing else.
 */
import type { Client } from '@temporalio/client';
import { attributesGivenMemo } from '../../../src/domain/identity';
import type { WaitKind } from '../../../src/domain/progress';
import { sagaAttributes } from '../../../src/temporal/search-attributes';

export interface Made {
  workflowId: string;
  kind: WaitKind;
  step: string;
  account: string;
  since: Date;
}

const atOnce = 50;

export async function startWaiting(temporal: Client, all: readonly Made[]): Promise<void> {
  await eachOf(all, async ({ workflowId, kind, step, account, since }) => {
    await temporal.workflow.start('provisionServers', {
      workflowId,
      taskQueue: 'nobody',
      args: [{}],
      memo: { [attributesGivenMemo]: true },
      typedSearchAttributes: [
        { key: sagaAttributes.state, value: kind },
        { key: sagaAttributes.step, value: step },
        { key: sagaAttributes.account, value: account },
        { key: sagaAttributes.waitingSince, value: since },
      ],
    });
  });
}

export async function eachOf<T>(all: readonly T[], work: (one: T, index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < all.length; index = next++) await work(all[index] as T, index);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
