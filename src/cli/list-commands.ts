/** The commands about many sagas at once that decide nothing: lists of them, the hold of new ones, and who is told again. */
import type { OrderSagaClient } from '../client/client';
import type { InboxOptions, InboxRow } from '../client/inbox';
import { lookIfTheyGoOn, type SagaFilter, type SagaRow } from '../client/saga-list';
import { describeHold } from '../domain/hold';
import { withSagas } from './connect';
import { asking, type Attribution } from './define';
import { exitStatus } from './exit-status';
import type { Printer } from './print';
import { inUnits, withAge } from './units';

export const list = asking(
  withSagas,
  async (sagas, { printer }, { limit, ...filter }: SagaFilter & { limit: number }) => {
    const rows: SagaRow[] = [];
    // One more than asked for shows whether there are more.
    for await (const row of sagas.list({ ...filter, limit: limit + 1 })) rows.push(row);
    const shown = rows.slice(0, limit);
    await lookIfTheyGoOn(sagas.temporal, shown);
    if (shown.length === 0) printer.line('no sagas');
    else
      printer.table([
        ['saga', 'state', 'step', 'waiting since', 'started', 'account'],
        ...shown.map(({ workflowId, state, step = '', waitingSince: since, startTime, account = '' }) => {
          return [workflowId, state, step, since ? withAge(since) : '', withAge(startTime), account];
        }),
      ]);
    for (const { workflowId, unreadable } of shown) if (unreadable) printer.line(`${workflowId}: ${unreadable}`);
    if (rows.length > shown.length) printer.toStderr(`the first ${shown.length}; there are more (--limit)`);
    if (shown.some(({ state }) => state === 'lost')) printer.toStderr(aboutTheLost);
    await reportHold(printer, sagas);
    return { document: shown };
  },
);

const aboutTheLost =
  'lost: it was ended from outside, undid nothing and left no report. What it has done: order-saga record REFERENCE --timeline\n' +
  'how to bring it to an end: order-saga journal lost';

type InboxAsked = Omit<InboxOptions, 'olderThanMs'> & { olderThan?: number };

/** Status 4 where something waits, for a script that looks now and then. */
export const inbox = asking(withSagas, async (sagas, { printer }, { olderThan, ...options }: InboxAsked) => {
  const found = await sagas.inbox({ ...options, olderThanMs: olderThan });
  const { by, total, groups, rows } = found;
  if (total === 0) printer.line('nothing waits for a decision');
  else {
    printer.line(`${total} ${total === 1 ? 'saga waits' : 'sagas wait'} for a decision`);
    printer.table([
      [by, 'sagas', 'longest'],
      ...groups.map(({ name, count, oldest }) => [name, String(count), ageOf(oldest)]),
    ]);
    printLinks(printer, groups);
    printer.line(rows.length < total ? `the ${rows.length} that have waited longest:` : 'the longest wait first:');
    printWaiting(printer, rows);
  }
  if (groups.some(({ link }) => link === undefined)) {
    printer.toStderr('no links: set TEMPORAL_UI_URL to the address of Temporal’s Web UI');
  }
  await reportHold(printer, sagas);
  return { document: found, status: total > 0 ? exitStatus.waits : exitStatus.done };
});

/** The rows of every list of what waits. */
export function printWaiting(printer: Printer, rows: readonly InboxRow[]): void {
  printer.table([
    ['saga', 'kind', 'step', 'account', 'waits'],
    ...rows.map((row) => [row.workflowId, row.kind, row.step, row.account ?? '', ageOf(row)]),
  ]);
  const links = rows.map(({ workflowId: name, link }) => ({ name, link }));
  printLinks(printer, links);
}

/** Below the table, whose columns they would make as wide as they are long. */
function printLinks(printer: Printer, all: readonly { name: string; link?: string }[]): void {
  printer.lines(all.flatMap(({ name, link }) => (link === undefined ? [] : [`  ${name}  ${link}`])));
}

function ageOf({ waitingSince }: Pick<InboxRow, 'waitingSince'>): string {
  return inUnits(Date.now() - waitingSince.getTime());
}

export const holdOn = asking(withSagas, async (sagas, { printer }, { by, note }: Attribution) => {
  const { existing } = await sagas.hold({ by, note });
  const hold = await sagas.holding();
  const state = hold ? describeHold(hold) : 'not held any more: the hold was released meanwhile';
  printer.line(`new sagas are ${state}${existing ? ': that hold was on before, and is not changed' : ''}`);
  return { document: { hold, existing } };
});

export const holdOff = asking(withSagas, async (sagas, { printer }, { by, note }: Attribution) => {
  const held = await sagas.countHeld();
  const { was } = await sagas.release({ by, note });
  printer.line(was ? 'the hold is off: new sagas begin' : 'no hold was on');
  if (held > 0) printer.line(`${sagasHeld(held)} held: each begins within five minutes`);
  return { document: { was, held } };
});

export const holdStatus = asking(withSagas, async (sagas, { printer }) => {
  const [hold, held] = await Promise.all([sagas.holding(), sagas.countHeld()]);
  printer.line(hold === undefined ? 'new sagas begin: no hold is on' : `new sagas are ${describeHold(hold)}`);
  printer.line(`${sagasHeld(held)} held`);
  return { document: { hold, held } };
});

export const notifyAgain = asking(
  withSagas,
  async (sagas, { printer }, saga: string | undefined, { route }: { route?: string }) => {
    const sent = await sagas.notifyAgain({ saga, route });
    if (sent.length === 0) printer.line('nothing was given up that is not sent again already');
    for (const { route, workflowId, types, unreadable } of sent) {
      if (unreadable === undefined) printer.line(`${route} is told of ${workflowId}: ${types.join(', ')}`);
      else printer.toStderr(`${route} is not told of ${workflowId}: what was given up is ${unreadable}`);
    }
    return { document: sent, status: sent.some(({ unreadable }) => unreadable) ? exitStatus.refused : exitStatus.done };
  },
);

/** For an operator who looks at a list, and may not know why nothing begins. */
async function reportHold(printer: Printer, sagas: OrderSagaClient): Promise<void> {
  const hold = await sagas.holding();
  if (hold) printer.toStderr(`new sagas are ${describeHold(hold)}; \`order-saga hold off\` lets them begin`);
}

function sagasHeld(count: number): string {
  return count === 1 ? '1 saga is' : `${count} sagas are`;
}
