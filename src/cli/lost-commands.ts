/** Lists the lost sagas: they have begun by the journal, have no ending there, and Temporal has no run that goes on. */
import type { Client } from '@temporalio/client';
import { standingOf, untouchedBySame } from '../client/lost';
import type { WorkflowName } from '../domain/identity';
import { isLost, type WayLost } from '../domain/lost';
import { noneIf } from '../domain/none-if';
import type { RequestOf } from '../domain/requests';
import { JournalUnreadable } from '../journal/errors';
import type { Journal } from '../journal/journal';
import { claim } from '../journal/open';
import { mayBePlaced, openSagas, type OpenReference } from '../journal/open-references';
import type { Came, CommandContext } from './define';
import { withSagas } from './connect';
import { exitStatus } from './exit-status';
import { withJournal } from './journal-commands';

const sliceSize = 100;

/** @returns `waits` where there are some */
export function lost({ printer }: CommandContext): Promise<Came> {
  return withSagas(({ temporal }) =>
    withJournal({ writes: false }, async (journal, name) => {
      const found: { workflowId: string; how: WayLost; firstSeenAt: string; next: string }[] = [];
      await claim(journal, temporal.options.namespace, { writes: false });
      let after: OpenReference | undefined;
      do {
        const { sagas, last } = await openSagas(journal, (ids) => standingOf(temporal, ids), {
          after,
          limit: sliceSize,
        });
        for (const { how, ...saga } of sagas) {
          if (!isLost(how)) continue;
          const { workflowId, firstSeenAt } = saga;
          const next = nextOf(saga, how, {
            mayBePlaced: await mayBePlaced(journal, saga),
            untouched: how === 'gone' ? await inTheWay(temporal, journal, saga) : undefined,
          });
          found.push({ workflowId, how, firstSeenAt, next });
        }
        after = last;
      } while (after !== undefined);
      if (found.length === 0) printer.line(`no saga of the journal ${name} is lost`);
      for (const { workflowId, how, firstSeenAt, next } of found) {
        printer.lines([
          `${workflowId}  ${how}, begun on ${firstSeenAt}`,
          `  order-saga record ${workflowId} --timeline   # what it has done, and what is left of it`,
          `  ${next}`,
        ]);
      }
      return { document: found, status: found.length === 0 ? exitStatus.done : exitStatus.waits };
    }),
  );
}

type Untouched = Awaited<ReturnType<typeof untouchedBySame>>;

/** Finds whether the same request, sent again, only meets a run that did nothing. */
async function inTheWay(temporal: Client, journal: Journal, saga: OpenReference): Promise<Untouched> {
  const request = await journal.firstRequest(saga).catch(noneIf(JournalUnreadable));
  return untouchedBySame(temporal, saga.workflowId, saga.workflow, request as RequestOf[WorkflowName] | undefined);
}

/** Says how to bring it to an end: nothing is done twice. Emptying the cart ends only what has placed nothing. */
function nextOf(
  { workflow, reference }: OpenReference,
  how: WayLost,
  { mayBePlaced, untouched }: { mayBePlaced: boolean; untouched: Untouched },
): string {
  const isCart = workflow === 'provisionServers' && !mayBePlaced;
  const clean = isCart ? `; or order-saga clean ${reference}, which empties its cart` : '';
  const ways = {
    again: 'send the same request again',
    lost: 'Reset it in the Web UI, to its last workflow task',
    cancelled: 'Reset its cancelled run in the Web UI, to its first workflow task',
    refused:
      'Remove the reason for which its last run was refused, and then reset that run in the Web UI, to its first workflow task',
  };
  return `${ways[untouched ?? (how === 'gone' ? 'again' : 'lost')]}: it goes on from what the journal knows${clean}`;
}
