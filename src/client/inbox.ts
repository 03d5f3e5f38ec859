/** Counts what waits for people, and names the sagas that have waited longest. */
import type { Client } from '@temporalio/client';
import { inboxRowsMax, type InboxGrouping, type WaitKind } from '../domain/progress';
import type { WebUi } from '../domain/web-ui';
import { is, isStep, listWaiting, waitingQuery, type RunFilter, type WaitingSaga } from '../temporal/service';
import { withTemporalErrors } from './temporal-errors';

export interface InboxOptions extends Omit<RunFilter, 'where'> {
  kind?: WaitKind | undefined;
  /** Only what has waited longer, in milliseconds. */
  olderThanMs?: number | undefined;
  /** @default 'kind' */
  by?: InboxGrouping | undefined;
  /** Rows at most, the oldest first. @default 20 */
  limit?: number | undefined;
}

export interface InboxRow extends WaitingSaga {
  /** Into the Web UI, where its address is known. */
  link?: string;
}

export interface InboxGroup {
  name: string;
  count: number;
  /** When the one that has waited longest began to. */
  oldest: { workflowId: string; waitingSince: Date };
  /** To the list of them in the Web UI. */
  link?: string;
}

export interface Inbox {
  by: InboxGrouping;
  total: number;
  /** The one first that has waited longest. */
  groups: InboxGroup[];
  rows: InboxRow[];
}

const rowsDefault = 20;

/** @throws SearchAttributesMissingError, NoConnectionError */
export async function readInbox(temporal: Client, options: InboxOptions, webUi?: WebUi): Promise<Inbox> {
  const { by = 'kind', limit = rowsDefault, kind, olderThanMs, ...others } = options;
  const since = olderThanMs === undefined ? undefined : new Date(Date.now() - olderThanMs);
  const asked = { ...others, kinds: kind && [kind], since };
  const groups: Groups = new Map();
  const count = (saga: WaitingSaga) => addTo(groups, saga, by);
  const { sagas, more } = await withTemporalErrors(temporal, () =>
    listWaiting(temporal, asked, Math.min(limit, inboxRowsMax), count),
  );
  const oldestFirst = [...groups.values()].sort(({ oldest: one }, { oldest: other }) => {
    return one.waitingSince.getTime() - other.waitingSince.getTime();
  });
  return {
    by,
    total: sagas.length + more,
    groups: oldestFirst.map(({ only, ...group }) => {
      return { ...group, link: webUi?.list(waitingQuery({ ...asked, where: only })) };
    }),
    rows: sagas.map((saga) => ({ ...saga, link: webUi?.run(saga) })),
  };
}

/** How many of them there are by each of `inboxGroupings`: for a list that was read already. */
export function countedBy(sagas: readonly WaitingSaga[], by: InboxGrouping): { name: string; count: number }[] {
  const groups: Groups = new Map();
  for (const saga of sagas) addTo(groups, saga, by);
  return [...groups.values()].sort((one, other) => other.count - one.count);
}

type Groups = Map<string, InboxGroup & { only: string }>;

function addTo(groups: Groups, saga: WaitingSaga, by: InboxGrouping): void {
  const { name, only } = groupOf(saga, by);
  const seen = { workflowId: saga.workflowId, waitingSince: saga.waitingSince };
  const group = groups.get(name) ?? { name, count: 0, oldest: seen, only };
  group.count += 1;
  if (seen.waitingSince < group.oldest.waitingSince) group.oldest = seen;
  groups.set(name, group);
}

/** The name of a saga's group, and the filter that finds only its sagas. */
function groupOf(saga: WaitingSaga, by: InboxGrouping) {
  if (by !== 'step') return { name: saga[by] ?? '(none)', only: is(by === 'kind' ? 'state' : by, saga[by]) };
  // One for each item or server: by their number they would be as many as the sagas.
  const name = saga.step.replace(/-\d+$/, '-*');
  return { name, only: isStep(name) };
}
