/** The command that looks at what waits. It changes nothing. */
import type { Inbox, InboxOptions } from '../client/inbox';
import { readClientConfig } from '../config';
import { definedOnly } from '../domain/defined-only';
import { withSagas } from './connect';
import { reportHold } from './hold-commands';
import type { CommandContext } from './command-context';
import { exitStatus } from './exit-status';
import { timeInWords } from './kinds';
import type { Printer } from './print';

/** Status 4 where something waits, for a script that looks now and then. */
export async function inbox(
  context: CommandContext,
  { olderThan, by, kind, step, account, workflow, limit }: InboxOptions & { olderThan?: number },
): Promise<number> {
  const { printer } = context;
  const options = definedOnly({ by, kind, step, account, workflow, limit, olderThanMs: olderThan });
  const config = readClientConfig();
  return withSagas(config, async (sagas) => {
    const found = await sagas.inbox(options);
    printInbox(printer, found, Date.now());
    if (config.webUiUrl === undefined && found.total > 0) {
      printer.toStderr('no links: set TEMPORAL_UI_URL to the address of Temporal’s Web UI');
    }
    await reportHold(context, sagas);
    printer.document(found);
    return found.total > 0 ? exitStatus.waits : exitStatus.done;
  });
}

function printInbox(printer: Printer, { by, total, groups, rows }: Inbox, nowMs: number): void {
  if (total === 0) {
    printer.line('nothing waits for a decision');
    return;
  }
  const age = (since: Date) => timeInWords(nowMs - since.getTime());
  printer.line(`${total} ${total === 1 ? 'saga waits' : 'sagas wait'} for a decision`);
  printer.table([
    [by, 'sagas', 'longest', 'in the Web UI'],
    ...groups.map(({ name, count, oldest, link }) => [name, String(count), age(oldest.waitingSince), link ?? '']),
  ]);
  printer.line(rows.length < total ? `the ${rows.length} that have waited longest:` : 'the longest wait first:');
  printer.table([
    ['saga', 'kind', 'step', 'account', 'waits', 'in the Web UI'],
    ...rows.map(({ workflowId, kind, step, account, waitingSince, link }) => [
      workflowId,
      kind,
      step,
      account ?? '',
      age(waitingSince),
      link ?? '',
    ]),
  ]);
}
