/** Our orders against the provider's own export of them: what it fills in is true, and what it cannot tell stays open. */
import { Readable } from 'node:stream';
import type { OpenLine } from '../../../src/cli/many-commands';
import { panelOrders } from '../../../src/cli/panel-export';
import type { SagaHandle } from '../../../src/client/handle';
import { parsePriceList } from '../../../src/config/price-list';
import type { PanelExport } from '../../../src/domain/profile';
import { sandboxProfile } from '../../support/activity-settings';
import { untilListed } from '../../support/bad-night';
import { runHere } from '../../support/command-line';
import { folderForFile } from '../../support/folder';
import { planIdOf, provisionRequest } from '../../support/requests';
import { rigForFile } from '../../support/rig';
import { answer, outcomeOf, progressOf, untilAnother, untilWaiting } from '../../support/sagas';

const plans = Array.from({ length: 40 }, (_, n) => ({ plan_id: 1001 + n, billing_cycle: 1, price: 31 }));
const priceList = parsePriceList(JSON.stringify({ currency: 'usd', plans }));
const rig = rigForFile({ activities: { priceList }, clears: true });
const folder = folderForFile();

const declared: PanelExport = {
  ...{ separator: ',', orderId: 'Order No.', account: 'Account', label: 'Name', time: { column: 'Created' } },
  servers: { column: 'Servers', separator: ' ' },
  total: { column: 'Total', currency: 'Currency', decimal: '.' },
  status: { column: 'State', placed: ['active'] },
};
const head = ['Order No.', 'Account', 'Name', 'Created', 'Servers', 'Total', 'Currency', 'State', 'Remark'];
type Request = ReturnType<typeof provisionRequest>;
type Cells = [string, string, string, string, string, string, string, string, string];

/** As the panel has it: the ledger, with the time at which the call came. */
function rowsOf(request: Request, changes: Partial<Record<number, string>> = {}): Cells[] {
  const { entries, calls } = rig.sandbox.ledger;
  return entries.flatMap((entry): Cells[] => {
    if (entry.type !== 'orderPlaced' || entry.label !== request.label) return [];
    const { orderId, account, label, vmObjectIds, seq } = entry;
    const created = new Date(calls.find(({ effects }) => effects.includes(seq))!.receivedMs).toISOString();
    const cells = [String(orderId), account, label, created, vmObjectIds.join(' '), '31.00', 'USD', 'active', ''];
    return [cells.map((cell, index) => changes[index] ?? cell) as Cells];
  });
}

const csv = (rows: readonly (readonly string[])[], separator = ',') =>
  [head, ...rows]
    .map((cells) => `${cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(separator)}\n`)
    .join('');

function run(
  args: string[],
  file: string | Buffer,
  { changes = {}, isTTY = false, path = folder.write('panel.csv', file) } = {},
) {
  const profile = { ...sandboxProfile, export: { ...declared, ...changes } };
  const PROVIDER_PROFILE = folder.write('profile.json', JSON.stringify(profile));
  const environment = { ...rig.environment, PROVIDER_PROFILE };
  return runHere([...args, '--export', path], '', environment, isTTY);
}

/** Nobody knows whether they were placed; each was. */
async function doubtful(...requests: Request[]): Promise<SagaHandle[]> {
  const sagas: SagaHandle[] = [];
  for (const { reference } of requests)
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'reset-after', match: { planId: planIdOf(reference) } });
  for (const request of requests) sagas.push(await rig.sagas.provision(request));
  await untilListed(rig, sagas, 'outcome-unknown');
  return sagas;
}

async function questionsBy(file: string, changes: Partial<PanelExport> = {}) {
  const { out, err } = await run(['questions', '--where', 'SagaState="outcome-unknown"'], file, { changes });
  const lines = out.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as OpenLine]));
  return { err, lineOf: ({ workflowId }: SagaHandle) => lines.find(({ saga }) => saga === workflowId)! };
}

const send = (...lines: OpenLine[]) => {
  const args = ['decide-many', '--lines', '-', '--yes', '--by', 'ann', '--note', 'the export of 03:10'];
  return runHere(args, lines.map((line) => JSON.stringify(line)).join('\n'), rig.environment);
};

it('an order of unknown outcome that the export has once is filled in, sent by a person, and done with that order', async () => {
  const [request, absent] = [provisionRequest({ firewalls: [143], items: [{}, {}] }), provisionRequest()];
  const [saga, other] = await doubtful(request, absent);
  const { lineOf, err } = await questionsBy(csv(rowsOf(request)));
  const [order] = rig.ordersOf(request);
  const filled = { decision: 'confirmPlaced', orderId: String(order!.orderId), vmObjectIds: order!.vmObjectIds };
  expect(lineOf(saga!)).toMatchObject({ saga: saga!.workflowId, kind: 'outcome-unknown', ...filled });
  // That the export does not have it does not say that it was not placed.
  expect(lineOf(other!)).toMatchObject({ decision: null });
  expect(err).toContain(`${other!.workflowId}: no row fits, which does not say that it was not placed\n`);
  expect((await progressOf(saga!)).decisions).toEqual([]);

  expect(await send(lineOf(saga!))).toMatchObject({ status: 0 });
  const servers = order!.vmObjectIds.map((vmObjectId) => ({ vmObjectId, firewalls: [143] }));
  expect(await saga!.result()).toMatchObject({ servers, decisions: [{ decision: 'confirmPlaced', by: 'ann' }] });
  expect(rig.ordersOf(request)).toHaveLength(1);
  expect(await progressOf(other!)).toMatchObject({ state: 'outcome-unknown' });
});

it('without the right number of ids it names none, and the saga asks for them', async () => {
  const request = provisionRequest({ firewalls: [143], items: [{}, {}] });
  const [saga] = await doubtful(request);
  for (const ids of ['', '9001', 'n/a', '9001 9001']) {
    const { lineOf } = await questionsBy(csv(rowsOf(request, { 4: ids })));
    expect(lineOf(saga!)).toHaveProperty('decision', 'confirmPlaced');
    expect(lineOf(saga!)).not.toHaveProperty('vmObjectIds');
  }
});

it('what the export cannot tell apart stays open, and is said', async () => {
  const label = 'twice';
  const [twice, late, known, ended] = [provisionRequest(), provisionRequest(), provisionRequest(), provisionRequest()];
  const [one, other] = [provisionRequest({ account: 'AB-77', label }), provisionRequest({ account: 'AB-77', label })];
  const placed = provisionRequest();
  await (await rig.sagas.provision(placed)).result();
  const sagas = await doubtful(twice, late, known, ended, one, other);
  const [ofTwice, ofLate, ofKnown, ofEnded, ofOne] = sagas.map(({ workflowId }) => workflowId);
  const rows = [
    ...[...rowsOf(twice), ...rowsOf(twice, { 0: '4711' })],
    ...rowsOf(late, { 3: new Date(Date.now() + 3_600_000).toISOString() }),
    ...rowsOf(known, { 0: String(rig.ordersOf(placed)[0]!.orderId) }),
    ...[...rowsOf(ended, { 7: 'cancelled' }), ...rowsOf(one).slice(0, 1)],
  ];
  const { err, lineOf } = await questionsBy(csv(rows));
  for (const saga of sagas) expect(lineOf(saga)).toMatchObject({ decision: null });
  expect(err).toContain(`${ofTwice}: more than one row fits: 2, 3\n`);
  for (const saga of [ofLate, ofKnown]) expect(err).toContain(`${saga}: no row fits`);
  expect(err).toContain(`${ofEnded}: row 6 does not stand, by its status\n`);
  expect(err).toContain(`${ofOne}: row 7 may be another order’s: ${other.reference}\n`);
  // The label counts as it is, also its case and its blanks.
  const { lineOf: of } = await questionsBy(csv(rowsOf(twice, { 2: ` ${twice.label}` })));
  expect(of(sagas[0]!)).toMatchObject({ decision: null });
});

it('a row that may be an order of ours with an answer is nobody else’s', async () => {
  const [first, second] = [0, 1].map(() => provisionRequest({ account: 'AB-78', label: 'same' }));
  rig.sandbox.configure({ orderResponse: () => ({ status: 'accepted' }) });
  await outcomeOf(await rig.sagas.provision(first!));
  const [saga] = await doubtful(second!);
  const { err, lineOf } = await questionsBy(csv(rowsOf(first!).slice(0, 1)));
  expect(lineOf(saga!)).toMatchObject({ decision: null });
  expect(err).toContain(`${saga!.workflowId}: row 2 may be another order’s: ${first!.reference}\n`);
});

it('the row of an order that is known is nobody else’s, also where the panel writes its id in another way', async () => {
  const [first, second] = [0, 1].map(() => provisionRequest({ account: 'AB-95', label: 'alike' }));
  await (await rig.sagas.provision(first!)).result();
  const [saga] = await doubtful(second!);
  const [ofFirst, ofSecond] = rowsOf(first!);
  const padded = [`#${ofFirst![0]}`, ...ofFirst!.slice(1)];
  const { err, lineOf } = await questionsBy(csv([padded]));
  expect(lineOf(saga!)).toMatchObject({ decision: null });
  expect(err).toContain(`${saga!.workflowId}: row 2 may be another order’s: ${first!.reference}\n`);
  // Where the other one has a row of its own, it is no rival, wherever that stands.
  const { lineOf: of } = await questionsBy(csv([ofSecond!, ofFirst!]));
  expect(of(saga!)).toMatchObject({ decision: 'confirmPlaced', orderId: ofSecond![0] });
});

it('an order’s id that no decision takes is left out', async () => {
  const request = provisionRequest();
  const [saga] = await doubtful(request);
  const { lineOf } = await questionsBy(csv(rowsOf(request, { 0: '9'.repeat(201) })));
  expect(lineOf(saga!)).not.toHaveProperty('orderId');
  expect(await send(lineOf(saga!))).toMatchObject({ status: 0 });
});

it('sums that differ are a difference, also in a currency of an odd name', async () => {
  const request = provisionRequest({ account: 'AB-92' });
  await (await rig.sagas.provision(request)).result();
  const compared = (rows: Cells[]) =>
    run(['purchases', '--account', 'AB-92', '--since', '1d'], csv(rows), { isTTY: true });
  expect(await compared(rowsOf(request))).toMatchObject({ status: 0 });
  const dearer = await compared(rowsOf(request, { 5: '310.00' }));
  expect(dearer).toMatchObject({ status: 4, out: expect.stringContaining('theirs 310\n') as string });
  const odd = await compared([...rowsOf(request), ...rowsOf(request, { 0: 'x', 6: '__proto__' })]);
  expect(odd.out).toContain('__proto__: ours 0 (without a price: 0), theirs 31\n');
});

it('servers of another order are refused where every decision’s are', async () => {
  const [first, second] = [provisionRequest(), provisionRequest({ firewalls: [143] })];
  await (await rig.sagas.provision(first)).result();
  const [saga] = await doubtful(second);
  const { id } = await untilWaiting(saga!);
  const theirs = String(rig.serversOf(first)[0]);
  const { lineOf } = await questionsBy(csv(rowsOf(second, { 4: theirs })));
  await send(lineOf(saga!));
  const { question } = await untilAnother(saga!, id, 'outcome-unknown');
  expect(question).toContain(` ${theirs} is a server of ${first.reference}.`);
  await answer(saga!, 'confirmPlaced', { vmObjectIds: rig.serversOf(second), note: 'in the panel' });
  await saga!.result();
  expect(rig.ordersOf(second)).toHaveLength(1);
});

it('purchases are compared: ours without theirs, theirs without ours, and the sums', async () => {
  const account = 'AB-79';
  const [both, ours, odd] = [0, 1, 2].map(() => provisionRequest({ account }));
  for (const request of [both!, ours!]) await (await rig.sagas.provision(request)).result();
  await doubtful(odd!);
  const rows = [
    ...rowsOf(both!),
    ...rowsOf(odd!),
    ...rowsOf(odd!, { 0: '4712' }),
    ...rowsOf(both!, { 0: '4711', 2: 'by hand', 5: '12.50' }),
    ...rowsOf(both!, { 0: '4713', 7: 'cancelled' }),
    ...rowsOf(both!, { 0: '4714', 6: 'EUR', 3: '2020-02-29T10:00:00+01:00' }),
    ...rowsOf(both!, { 0: '4715', 1: 'AB-80' }),
  ];
  const args = ['purchases', '--account', account, '--since', '1d'];
  const { status, out } = await run(args, csv(rows), { isTTY: true });
  expect(status).toBe(4);
  const time = '\\d{4}-\\S+Z';
  expect(out.trim().split('\n')).toEqual([
    expect.stringMatching(`^theirs without ours: row 5, order 4711, account AB-79, at ${time}, label by hand$`),
    expect.stringMatching(
      `^ours without theirs: reference ${ours!.reference}, fate placed, order \\d+, account AB-79, at`,
    ),
    `not told apart: reference ${odd!.reference}, fate unknown, why more than one row fits: 3, 4`,
    'usd: ours 93 (without a price: 0), theirs 105.5',
  ]);
  const clean = await run([...args, '--json'], csv([...rowsOf(both!), ...rowsOf(ours!), ...rowsOf(odd!)]));
  expect({ ...clean, out: JSON.parse(clean.out) as object }).toMatchObject({
    ...{ status: 0, out: { is: 'sum', currency: 'usd', ours: 93, theirs: 93, unpriced: 0 } },
  });
});

const withComma = { column: 'Total', currency: 'Currency', decimal: ',' } as const;
const row = ['1', 'AB-1', 'web', '2026-11-30T10:00:00Z', '1', '31.00', 'usd', 'active', ''];
const changed = (index: number, cell: string) => csv([row.map((one, at) => (at === index ? cell : one))]);
it.each<[what: string, file: string | Buffer, why: RegExp, changes?: Partial<PanelExport>]>([
  ['that is empty', '', /panel.csv is empty/],
  ['in UTF-16', Buffer.from(`\ufeff${csv([row])}`, 'utf16le'), /panel.csv is UTF-16: save it as UTF-8/],
  ['in Latin-1', Buffer.from(csv([row]).replace('web', 'Zürich'), 'latin1'), /is not UTF-8 \(perhaps Latin-1\)/],
  ['that ends in a letter', Buffer.from(`${csv([row])}ü`).subarray(0, -1), /is not UTF-8/],
  ['without a column', csv([row]).replace('Name', 'Label'), /“Name” of export.label must be .* Order No\., /],
  ['with a column twice', csv([row]).replace('Remark', 'Name'), /“Name” of export.label must be one column/],
  ['with another separator', csv([row], ';'), /panel.csv: Invalid Closing Quote/],
  ['with a row of other fields', `${csv([row])}1,2\n`, /panel.csv: Invalid Record Length: .* on line 3/],
  ['with a quote that stays open', `${csv([row])}"1,2\n`, /panel.csv: Quote Not Closed/],
  ['with a cell without end', `${csv([row])}"${'1'.repeat(200_000)}`, /panel.csv: Max Record Size/],
  ['with a time of no offset', changed(3, '2026-11-30 10:00'), /row 2: .*\(or declare export.time.utcOffset\)/],
  ['with a day that is none', changed(3, '2026-11-31T10:00Z'), /row 2: a time is like .* and not 2026-11-31T10:00Z/],
  ['with another decimal sign', changed(5, '1.234'), /row 2: a total is like 1234,50/, { total: withComma }],
])('an export %s is refused with a sentence', async (_what, file, why, changes = {}) => {
  const err = expect.stringMatching(why) as string;
  expect(await run(['questions'], file, { changes })).toEqual({ status: 2, out: '', err });
  // It tells of rows as they come.
  expect(await run(['purchases'], file, { changes })).toMatchObject({ status: 2, err });
});

it('an export whose columns nobody has declared is refused, and so is a file that is not there', async () => {
  const err = expect.stringMatching(/^`export` of PROVIDER_PROFILE is not declared/) as string;
  for (const command of ['purchases', 'questions'])
    expect(await runHere([command, '--export', '-'], csv([row]), rig.environment)).toEqual({ status: 2, out: '', err });
  const other = await run(['purchases'], '', { path: '/no/such.csv' });
  expect(other).toMatchObject({ status: 2, err: 'there is no file /no/such.csv\n' });
  expect((await run(['purchases', '--server', '1'], csv([row]))).err).toContain('cannot be used with');
});

const read = async (text: string, changes: Partial<PanelExport> = {}) => {
  const orders = [];
  const bytes = Array.from(Buffer.from(text), (byte) => Buffer.from([byte]));
  for await (const one of panelOrders('-', Readable.from(bytes), { ...declared, ...changes })) orders.push(one);
  return orders;
};

it('reads what spreadsheets and panels write', async () => {
  const first = { orderId: '1', account: 'AB-1', ms: Date.parse('2026-11-30T10:00Z'), vmObjectIds: [1], total: 31 };
  const plain = [{ ...first, label: 'web', row: 2 }];
  expect(await read(`\ufeff${csv([row])}\n\n`)).toMatchObject(plain);
  expect(await read(csv([row]).replaceAll('\n', '\r\n').replace(/"/g, ''))).toMatchObject(plain);
  const inGerman = csv([row], ';').replace('31.00', '31,00');
  expect(await read(inGerman, { separator: ';', total: withComma })).toMatchObject(plain);
  const time = { column: 'Created', utcOffset: '+02:00' };
  expect(await read(changed(3, '2026-11-30 12:00'), { time })).toMatchObject(plain);
  const [odd, next] = await read(csv([row.map((cell, at) => (at === 2 ? 'a\r\n"b", ü' : cell)), row]));
  expect([odd, next]).toMatchObject([{ label: 'a\r\n"b", ü', row: 2 }, { row: 3 }]);
});

it('reads no more of an export than it gives', async () => {
  let made = 0;
  async function* endless() {
    for (yield csv([]); ; made += 1) yield await Promise.resolve(`${csv([row]).split('\n')[1]!}\n`);
  }
  let taken = 0;
  for await (const { row: at } of panelOrders('-', Readable.from(endless()), declared)) {
    expect(made - taken).toBeLessThan(2_000);
    taken += 1;
    if (at > 5_000) break;
  }
});
