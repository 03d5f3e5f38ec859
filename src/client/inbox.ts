/**
 * What waits for people: how much of it, by kind, step, account or age, and which sagas have waited longest. It is read
 * from visibility, a thousand sagas with each call; no saga is described, and of all rows only the oldest are kept.
 */
import type { Client } from '@temporalio/client';
import { definedOnly } from '../domain/defined-only';
import { searchAttributeNames, workflowNames, type WorkflowName } from '../domain/identity';
import { waitKinds, type WaitKind } from '../domain/progress';
import { quoted } from '../temporal/list-filter';
import { lacksSearchAttributes, toRow } from './saga-list';
import { SearchAttributesMissingError } from './errors';
import { readAttributes } from './search-attributes';
import { withTemporalErrors } from './temporal-errors';
import type { WebUi } from '../domain/web-ui';

export const inboxGroupings = ['kind', 'step', 'account', 'age'] as const;
export type InboxGrouping = (typeof inboxGroupings)[number];

export interface InboxFilter {
  kind?: WaitKind | undefined;
  /** A step's id, or with `*` at its end all that begin so: `add-cart-item-*`. */
  step?: string | undefined;
  account?: string | undefined;
  workflow?: WorkflowName | undefined;
  /** Only what has waited longer, in milliseconds. */
  olderThanMs?: number | undefined;
}

export interface InboxOptions extends InboxFilter {
  /** @default 'kind' */
  by?: InboxGrouping | undefined;
  /** Rows at most, the oldest first. @default 20 */
  limit?: number | undefined;
}

export interface InboxRow {
  workflowId: string;
  runId: string;
  reference: string;
  workflow: WorkflowName;
  kind: WaitKind;
  step: string | undefined;
  account: string | undefined;
  waitingSince: Date;
  /** Into the Web UI, where its address is known. */
  link?: string;
}

export interface InboxGroup {
  name: string;
  count: number;
  /** Of the one that has waited longest. */
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

const pageSize = 1_000;
const rowsDefault = 20;
export const inboxRowsMax = 1_000;

const { state, step: stepName, account: accountName, waitingSince: sinceName } = searchAttributeNames;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** From the youngest on; each begins at its age. */
const ages = [
  { name: 'less than 15 minutes', fromMs: 0 },
  { name: '15 minutes to 1 hour', fromMs: 15 * minuteMs },
  { name: '1 to 4 hours', fromMs: hourMs },
  { name: '4 hours to 1 day', fromMs: 4 * hourMs },
  { name: '1 to 7 days', fromMs: dayMs },
  { name: 'more than 7 days', fromMs: 7 * dayMs },
] as const;

/** @throws SearchAttributesMissingError, NoConnectionError */
export async function readInbox(temporal: Client, options: InboxOptions, webUi?: WebUi): Promise<Inbox> {
  const { by = 'kind', limit = rowsDefault, ...filter } = options;
  const nowMs = Date.now();
  const groups = new Map<string, InboxGroup>();
  const rows = new Oldest(Math.min(limit, inboxRowsMax));
  let total = 0;
  for await (const row of waitingRows(temporal, inboxQuery(filter, nowMs))) {
    total += 1;
    rows.add(row);
    const { name, condition } = groupOf(row, by, nowMs);
    const group = groups.get(name) ?? {
      name,
      count: 0,
      oldest: row,
      ...linkTo({ ...condition, ...definedOnly(filter), ...narrower(condition, filter) }),
    };
    group.count += 1;
    if (row.waitingSince < group.oldest.waitingSince) group.oldest = row;
    groups.set(name, group);
  }
  function linkTo(narrowed: Narrowed): { link?: string } {
    return webUi ? { link: webUi.list(inboxQuery(narrowed, nowMs)) } : {};
  }
  const since = ({ oldest }: InboxGroup) => oldest.waitingSince.getTime();
  return {
    by,
    total,
    groups: [...groups.values()]
      .sort((one, other) => since(one) - since(other))
      .map(({ oldest: { workflowId, waitingSince }, ...group }) => ({
        ...group,
        oldest: { workflowId, waitingSince },
      })),
    rows: rows.sorted.map((row) => (webUi ? { ...row, link: webUi.run(row) } : row)),
  };
}

/** Of two steps, each of which may be the beginning of names, the one that says more. Both fit the group's rows. */
function narrower({ step: one }: InboxFilter, { step: other }: InboxFilter): InboxFilter {
  const said = (step = '') => step.replace(/\*$/, '').length;
  return definedOnly({ step: said(one) > said(other) ? one : other });
}

interface Narrowed extends InboxFilter {
  from?: Date | undefined;
  to?: Date | undefined;
}

/** A list filter of Temporal. The types come first in no list of an operator's, but they keep other workflows out. */
function inboxQuery({ kind, step, account, workflow, olderThanMs, from, to }: Narrowed, nowMs: number): string {
  const before = olderThanMs === undefined ? undefined : new Date(nowMs - olderThanMs);
  const steps = step?.endsWith('*') ? `${stepName} STARTS_WITH ${text(step.slice(0, -1))}` : undefined;
  return [
    `ExecutionStatus = 'Running'`,
    `${state} IN (${quoted(kind === undefined ? waitKinds : [kind])})`,
    `WorkflowType IN (${quoted(workflow === undefined ? workflowNames : [workflow])})`,
    ...(step === undefined ? [] : [steps ?? `${stepName} = ${text(step)}`]),
    ...(account === undefined ? [] : [account === '' ? `${accountName} IS NULL` : `${accountName} = ${text(account)}`]),
    ...(before === undefined ? [] : [`${sinceName} <= '${before.toISOString()}'`]),
    ...(from === undefined ? [] : [`${sinceName} > '${from.toISOString()}'`]),
    ...(to === undefined ? [] : [`${sinceName} <= '${to.toISOString()}'`]),
  ].join(' AND ');
}

function text(value: string): string {
  return `'${value.replace(/[\\']/g, '\\$&')}'`;
}

function groupOf(row: InboxRow, by: InboxGrouping, nowMs: number): { name: string; condition: Narrowed } {
  switch (by) {
    case 'kind':
      return { name: row.kind, condition: { kind: row.kind } };
    case 'step': {
      // One for each item or server: by their number they would be as many as the sagas.
      const name = (row.step ?? '').replace(/-\d+$/, '-*');
      return { name, condition: { step: name } };
    }
    case 'account':
      return { name: row.account ?? '(none)', condition: { account: row.account ?? '' } };
    case 'age': {
      const ageMs = nowMs - row.waitingSince.getTime();
      const index = Math.max(
        0,
        ages.findLastIndex(({ fromMs }) => ageMs >= fromMs),
      );
      const [age, older] = [ages[index] ?? ages[0], ages[index + 1]];
      return {
        name: age.name,
        condition: {
          ...(index === 0 ? {} : { to: new Date(nowMs - age.fromMs) }),
          ...(older === undefined ? {} : { from: new Date(nowMs - older.fromMs) }),
        },
      };
    }
  }
}

async function* waitingRows(temporal: Client, query: string): AsyncGenerator<InboxRow> {
  const listing = temporal.workflow.list({ query, pageSize })[Symbol.asyncIterator]();
  for (;;) {
    const next = await withTemporalErrors(temporal, () => listing.next()).catch((error: unknown) => {
      if (!lacksSearchAttributes(error)) throw error;
      throw new SearchAttributesMissingError(temporal.options.namespace);
    });
    if (next.done) return;
    const row = toRow(next.value);
    // Not the row’s own: one that is paused in Temporal waits all the same.
    const attributes = readAttributes(next.value.typedSearchAttributes);
    const kind = waitKinds.find((known) => known === attributes.state);
    if (row?.waitingSince === undefined || kind === undefined) continue;
    const { workflowId, runId, reference, workflow, step, account, waitingSince } = row;
    yield { workflowId, runId, reference, workflow, kind, step, account, waitingSince };
  }
}

/** The oldest of many rows, without keeping the others. */
class Oldest {
  readonly sorted: InboxRow[] = [];

  constructor(readonly limit: number) {}

  add(row: InboxRow): void {
    const { sorted, limit } = this;
    const isOlder = (one: InboxRow) => row.waitingSince < one.waitingSince;
    const youngest = sorted.at(-1);
    if (sorted.length >= limit && (youngest === undefined || !isOlder(youngest))) return;
    const at = sorted.findIndex(isOlder);
    sorted.splice(at < 0 ? sorted.length : at, 0, row);
    if (sorted.length > limit) sorted.pop();
  }
}
