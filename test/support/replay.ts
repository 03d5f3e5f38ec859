/** Asks the process that the global set-up has started (`replayer.ts`) whether histories replay. */
import type { History } from '@temporalio/common/lib/proto-utils';
import { temporal } from '@temporalio/proto';
import type { PayloadKeys } from '../../src/security/keys';
import type { Replay, Replayed } from './replayer';

export interface ReplayOptions {
  bundle: string;
  payloadKeys?: PayloadKeys | undefined;
}

/** @returns of each history, in their order, why it does not replay, where it does not */
export async function replayAll(
  { bundle, payloadKeys }: ReplayOptions,
  histories: readonly { workflowId: string; history: History }[],
): Promise<Replayed[]> {
  if (histories.length === 0) return [];
  const url = process.env['ORDER_SAGA_TEST_REPLAYER'];
  if (url === undefined) throw new Error('the global set-up starts what replays: run this through jest');
  const asked: Replay = {
    bundle,
    payloadKeys: payloadKeys && textOf(payloadKeys),
    histories: histories.map(({ workflowId, history }) => ({
      workflowId,
      history: Buffer.from(temporal.api.history.v1.History.encode(history).finish()).toString('base64'),
    })),
  };
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(asked) });
  if (!response.ok) throw new Error(`histories could not be replayed: ${await response.text()}`);
  const replayed = (await response.json()) as Replayed[];
  if (replayed.length !== histories.length) throw new Error(`${replayed.length} of ${histories.length} were replayed`);
  return replayed;
}

/** As `PAYLOAD_KEYS` has them. */
function textOf({ byId }: PayloadKeys): string {
  return [...byId].map(([id, key]) => `${id}:${key.export().toString('base64')}`).join(',');
}
