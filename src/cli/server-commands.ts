/** Commands about servers that were ordered with firewalls and lack them, as far as the journal knows, until closed. */
import { workflowIdOf } from '../domain/identity';
import { describeOthers } from '../domain/servers';
import { foundServersSchema } from '../domain/requests';
import { describeProblems } from '../domain/problems';
import { check } from '../domain/validation';
import { inWords } from '../domain/times';
import { correctServers } from '../journal/correct-servers';
import { closeServers, openServers } from '../journal/servers';
import type { CommandResult, CommandContext, Attribution } from './define';
import { UsageError } from './exit-status';
import { listed, withJournal } from './journal-commands';

/** @returns `waits` where there are some */
export function listOpen({ printer }: CommandContext): Promise<CommandResult> {
  return withJournal({ writes: false }, async (journal, name) => {
    const none = `the journal ${name} knows of no server that lacks firewalls`;
    return listed(printer, await openServers(journal), none, (open) => {
      const which = open.vmObjectId === undefined ? 'servers of unknown ids' : `server ${open.vmObjectId}`;
      const order = workflowIdOf(open.workflow, open.reference);
      return [
        `${which}  lacks firewalls ${open.firewalls.join(', ')} since ${inWords(open.since)}`,
        `  ordered by ${order}, which ${open.saga === 'open' ? 'goes on' : 'has ended'}`,
      ];
    });
  });
}

/** @throws UsageError */
export async function close(
  { printer }: CommandContext,
  vmObjectId: number | undefined,
  { reference, by, note }: { reference?: string } & Attribution,
): Promise<CommandResult> {
  const which = reference === undefined ? vmObjectId !== undefined && { vmObjectId } : { reference };
  if (!which || (vmObjectId !== undefined && reference !== undefined)) {
    throw new UsageError('name the object id of a server, or an order with --reference');
  }
  return withJournal({ writes: true }, async (journal, name) => {
    const closed = await closeServers(journal, which, { by, note });
    if (closed === 0) throw new UsageError(`the journal ${name} has no such server that nobody has closed`);
    printer.line(`${closed} closed, says ${by}: ${note}`);
    return { document: { closed, by, note } };
  });
}

/** @throws UsageError */
export async function correct(
  { printer }: CommandContext,
  reference: string,
  ids: readonly number[],
  { from, by, note }: { from?: string } & Attribution,
): Promise<CommandResult> {
  const checked = check(foundServersSchema(), ids);
  if (!checked.ok) throw new UsageError(`object ids: ${describeProblems(checked.problems)}`);
  if (from !== undefined && ids.length === 0) throw new UsageError('--from: name the object ids that it loses');
  return withJournal({ writes: true }, async (journal, name) => {
    const corrected = await correctServers(journal, reference, ids, { from, by, note });
    if (corrected.how === 'open') throw new UsageError(`${corrected.reference} goes on: answer it, or cancel it first`);
    if (corrected.how === 'not-placed') {
      throw new UsageError(`no order of ${corrected.reference} stands, by the journal ${name}`);
    }
    if (corrected.how === 'too-many') throw new UsageError(`${reference} has ordered ${corrected.servers} servers`);
    if (corrected.how === 'others') {
      throw new UsageError(`object ids:${describeOthers(corrected.others)} If that is wrong, name it by --from`);
    }
    printer.line(`${reference} has ${ids.length === 0 ? 'servers of unknown ids' : `servers ${ids.join(', ')}`}`);
    return { document: { reference, vmObjectIds: ids, from, by, note } };
  });
}
