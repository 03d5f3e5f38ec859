/** Lists the lost sagas: they have begun by the journal, have no ending there, and Temporal has no run that goes on. */
import { runStatusOf } from '../client/saga-list';
import { describeDeed, type Deed } from '../domain/deeds';
import { isLost, type WayLost } from '../domain/lost';
import { inWords } from '../domain/times';
import { claim } from '../journal/open';
import { mayBePlaced, openSagas, type OpenReference } from '../journal/views/open-references';
import type { CommandResult, CommandContext } from './define';
import { withSagas } from './connect';
import { listed, withJournal } from './journal-commands';

const sliceSize = 100;

/** @returns `waits` where there are some */
export function lost({ printer }: CommandContext): Promise<CommandResult> {
  return withSagas((client) =>
    withJournal({ writes: false }, async (journal, name) => {
      const found: { workflowId: string; how: WayLost; firstSeenAt: string; deeds: Deed[]; next: string }[] = [];
      const { temporal } = client;
      await claim(journal, temporal.options.namespace, { writes: false });
      let after: OpenReference | undefined;
      do {
        const slice = { after, limit: sliceSize };
        const { sagas, last } = await openSagas(journal, (ids) => runStatusOf(temporal, ids), slice);
        for (const { how, ...saga } of sagas) {
          if (!isLost(how)) continue;
          const { workflowId, firstSeenAt } = saga;
          const next = nextOf(saga, how, await mayBePlaced(journal, saga));
          const handle = how === 'gone' ? undefined : await client.get(saga.reference, saga.workflow);
          found.push({ workflowId, how, firstSeenAt, deeds: (await handle?.deeds()) ?? [], next });
        }
        after = last;
      } while (after !== undefined);
      const none = `no saga of the journal ${name} is lost`;
      return listed(printer, found, none, ({ workflowId, how, firstSeenAt, deeds, next }) => [
        `${workflowId}  ${how}, begun on ${inWords(firstSeenAt)}`,
        ...deeds.map((deed) => `  ${deed.at}: ${describeDeed(deed)}`),
        `  order-saga record ${workflowId} --timeline   # what it has done, and what is left of it`,
        `  ${next}`,
      ]);
    }),
  );
}

/** Says how to bring it to an end: nothing is done twice. Emptying the cart ends only what has placed nothing. */
function nextOf({ workflow, reference }: OpenReference, how: WayLost, mayBePlaced: boolean): string {
  const isCart = workflow === 'provisionServers' && !mayBePlaced;
  const clean = isCart ? `; or order-saga clean ${reference}, which empties its cart` : '';
  const next =
    how === 'gone'
      ? 'send the same request again (if that finds a run that did nothing, see why, and Reset that run to its first workflow task)'
      : 'Reset it in the Web UI, to its last workflow task';
  return `${next}: it goes on from what the journal knows${clean}`;
}
