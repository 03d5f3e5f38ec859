/**
 * What receivers have not been told: the journal's outbox, without Temporal. The workers send; a person says what
 * becomes of the rest.
 */
import { definedOnly } from '../domain/defined-only';
import { readClientConfig } from '../config';
import type { Journal } from '../journal/journal';
import { dropNotices, listNotices, retryNotices, type NoticeFilter, type NoticeView } from '../journal/undelivered';
import type { CommandContext, Said } from './command-context';
import { exitStatus, UsageError } from './exit-status';
import { withJournal } from './journal-commands';

/** Which notifications a command is about. */
export interface Chosen {
  ids: readonly string[];
  route?: string | undefined;
  /** All dead letters. */
  dead?: boolean | undefined;
}

/** @returns `waits` where any was given up */
export async function listNotifications(
  { printer }: CommandContext,
  { route, dead, limit }: Pick<Chosen, 'route' | 'dead'> & { limit: number },
): Promise<number> {
  return withJournal({ writes: false }, async (journal, name) => {
    const found = await listNotices(journal, definedOnly({ route, dead }), limit + 1);
    const shown = found.slice(0, limit);
    if (shown.length === 0) printer.line(`the journal ${name} has no notification that was not delivered`);
    for (const notice of shown) {
      printer.line(
        `${notice.id}  ${notice.route}  ${notice.namespace}  ${notice.workflowId}  ${notice.event}${notice.kind ? ` (${notice.kind})` : ''}`,
      );
      printer.line(`  ${stateOf(notice)}`);
    }
    if (found.length > limit) printer.toStderr(`there are more than ${limit}: --limit`);
    printer.document(shown);
    return shown.some(({ state }) => state === 'dead') ? exitStatus.waits : exitStatus.done;
  });
}

function stateOf({ state, createdAt, attempts, nextAt, deadAt, failure }: NoticeView): string {
  const tried = `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'} since ${createdAt}${failure === undefined ? '' : `: ${failure}`}`;
  return state === 'dead' ? `given up on ${deadAt ?? ''}, ${tried}` : `open, next on ${nextAt ?? ''}, ${tried}`;
}

export async function retryNotifications({ printer }: CommandContext, chosen: Chosen): Promise<number> {
  return change(chosen, async (journal, filter) => {
    const retried = await retryNotices(journal, filter);
    printer.line(`${retried} notifications are sent again, from the beginning`);
    printer.document({ retried });
    return retried;
  });
}

export async function dropNotifications({ printer }: CommandContext, chosen: Chosen, said: Said): Promise<number> {
  return change(chosen, async (journal, filter) => {
    const dropped = await dropNotices(journal, filter, said);
    printer.line(`${dropped} notifications are deleted; nobody is told`);
    printer.document({ dropped });
    return dropped;
  });
}

async function change(
  { ids, route, dead }: Chosen,
  work: (journal: Journal, filter: NoticeFilter) => Promise<number>,
): Promise<number> {
  if (ids.length === 0 && route === undefined && !dead) {
    throw new UsageError(
      'say which: their ids, as `order-saga notifications list` shows them, or --route NAME, or --dead',
    );
  }
  return withJournal({ writes: true }, async (journal, name) => {
    // An id names one; a route may be another namespace's, too.
    const which = ids.length > 0 ? { ids } : { namespace: readClientConfig().namespace };
    const changed = await work(journal, { ...which, ...definedOnly({ route, dead }) });
    if (changed === 0 && ids.length > 0)
      throw new UsageError(`the journal ${name} has no such notification that was not delivered`);
    return exitStatus.done;
  });
}
