/**
 * `order-saga record` and `order-saga purchases`: what the journal has of sagas that have run, told where Temporal cannot
 * be asked any more: each command's TEMPORAL_ADDRESS leads nowhere.
 */
import type { z } from 'zod';
import { recordSchema, type SagaRecord } from '../../../src/domain/record';
import { changeRequest, provisionRequest, switchRequest } from '../../support/requests';
import { rigForFile, until } from '../../support/rig';
import { answer, outcomeOf, untilAnother, untilWaiting } from '../../support/sagas';
import { runHere, type Ended } from '../../support/command-line';

const rig = rigForFile({ clears: true });

const environment = () => ({ JOURNAL_URL: rig.journalUrl, TEMPORAL_ADDRESS: '127.0.0.1:1' });
const record = (...args: string[]): Promise<Ended> => runHere(['record', ...args], '', environment());

/** As a program reads it: it has the published shape, and nothing beside it. */
async function recordOf(reference: string, ...args: string[]): Promise<SagaRecord> {
  const { status, out, err } = await record(reference, '--json', ...args);
  expect({ status, err }).toEqual({ status: 0, err: '' });
  const read = recordSchema.safeParse(JSON.parse(out));
  expect((read.error as z.ZodError | undefined)?.issues).toBeUndefined();
  return read.data!;
}

const define = ({ effects }: SagaRecord) => effects.map(({ step, kind, outcome }) => `${step} ${kind} ${outcome}`);

/** The second column of a timeline. */
const columnsIn = ({ out }: Ended) =>
  out.split('\n').flatMap((line) => /^\d{4}-\d\d-\d\dT[\d:.]+Z {2}(.{10}) {2}/.exec(line)?.[1]?.trim() ?? []);

/** What Temporal knows comes by its clock. */
const happeningsIn = (people: Ended) => columnsIn(people).filter((what) => what !== 'asked');

const secret = 'geheim-geheim';
const asBase64 = Buffer.from(secret).toString('base64');

it('purchases tells what was bought, what is unknown, what was refused, and who approved it', async () => {
  const purchases = (...args: string[]) => runHere(['purchases', ...args], '', environment());
  const placed = provisionRequest({ reference: 'PO-1', account: 'AB-1', metadata: { requester: 'eve', ticket: '7' } });
  const { servers } = await (await rig.sagas.provision(placed)).result();
  const vmObjectId = servers[0]!.vmObjectId;
  const change = await rig.sagas.start('changeOrder', changeRequest({ reference: 'CH-1', approval: 'always' }));
  await untilWaiting(change, 'approval');
  await answer(change, 'approve', { by: '=ann, of finance' });
  await change.result();
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'refuse-before', nth: 1 });
  await outcomeOf(await rig.sagas.provision(provisionRequest({ reference: 'PO-2', account: 'AB-1' })));
  rig.sandbox.faults.clear();
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'reset-after', nth: 1 });
  const unknown = await rig.sagas.provision(
    provisionRequest({ reference: 'PO-3', account: 'CD-2', approval: 'always' }),
  );
  await untilWaiting(unknown, 'approval');
  await answer(unknown, 'approve', { by: 'bob' });
  await untilWaiting(unknown, 'outcome-unknown');

  const all = await purchases('--format', 'json');
  expect(all.status).toBe(0);
  expect(JSON.parse(all.out)).toMatchObject([
    {
      ...{ reference: 'PO-1', account: 'AB-1', fate: 'placed', servers: 1, vmObjectIds: [vmObjectId], ended: 'done' },
      metadata: { requester: 'eve', ticket: '7' },
    },
    { reference: 'CH-1', fate: 'placed', total: expect.any(Number) as number, by: ['=ann, of finance'] },
    { reference: 'PO-2', fate: 'not-placed', ended: 'OrderRejected' },
    { reference: 'PO-3', fate: 'unknown', account: 'CD-2', by: ['bob'] },
  ]);
  const referencesOf = async (...args: string[]) =>
    (JSON.parse((await purchases('--json', ...args)).out) as { reference: string }[]).map(({ reference }) => reference);
  expect(await referencesOf('--account', 'ab-1')).toEqual(['PO-1', 'PO-2']);
  expect(await referencesOf('--outcome', 'unknown')).toEqual(['PO-3']);
  expect(await referencesOf('--server', String(vmObjectId))).toEqual(['PO-1']);
  expect(await referencesOf('--since', '1h', '--outcome', 'placed')).toEqual(['PO-1', 'CH-1']);
  expect(await referencesOf('--until', '2026-01-01')).toEqual([]);

  const { out: csv } = await purchases('--format', 'csv');
  const lines = csv.trimEnd().split('\r\n');
  expect(lines).toHaveLength(5);
  expect(lines[1]).toMatch(/,"eve",.*,"requester=eve; ticket=7"$/);
  expect(lines[2]).toContain(`"'=ann, of finance"`);
  const { out: table } = await purchases();
  expect(table).toMatch(/^sent .*outcome/);
  expect(table.trimEnd().split('\n')).toHaveLength(5);
});

it('tells of a saga that is done what was asked, sent, answered and bought, and no secret', async () => {
  const items = [{ password: secret, custom_script: asBase64 }, { custom_ssh_key: asBase64 }];
  const request = provisionRequest({ items, firewalls: [143] });
  const saga = await rig.sagas.provision(request);
  const { cartItemIds, servers } = await saga.result();

  const told = await recordOf(request.reference);
  expect(told).toMatchObject({
    reference: request.reference,
    workflow: 'provisionServers',
    account: request.account,
    firstSeen: { run: saga.runId },
    request: { label: request.label, items: [{ password: '[redacted]' }, { custom_ssh_key: '[redacted]' }] },
    state: 'done',
    placement: 'placed',
    servers,
    leftovers: [],
    decisions: [],
  });
  const assigned = servers.map(({ vmObjectId }) => `assign-firewalls-${vmObjectId} mutate done`);
  expect(define(told).sort()).toEqual(
    ['add-cart-item-1 mutate done', 'add-cart-item-2 mutate done', 'place-order pivot done', ...assigned].sort(),
  );
  const order = told.effects.find(({ kind }) => kind === 'pivot')!;
  expect(order).toMatchObject({ activity: 'placeOrder', run: saga.runId, about: { cartItems: cartItemIds } });
  expect(order.answer).toMatchObject({ how: 'answered', value: { vmObjectIds: servers.map((one) => one.vmObjectId) } });
  expect(Date.parse(order.answeredAt!)).toBeGreaterThanOrEqual(Date.parse(order.intendedAt));
  expect(told.endings).toMatchObject([{ run: saga.runId, workflow: 'provisionServers', outcome: 'done' }]);
  expect(told.total).toBeUndefined();

  const people = await record(request.reference, '--timeline');
  expect(people).toMatchObject({ status: 0, err: '' });
  expect(people.out).toMatch(new RegExp(`^provision/${request.reference}: done\n  ended on 20`));
  expect(people.out).toContain('  the order was placed\n');
  expect(people.out).toContain(`  server ${servers[0]!.vmObjectId}, firewalls 143\n`);
  expect(people.out).toMatch(/ {2}intended {4}place-order: cart items \d+, \d+; firewalls \d+, row [0-9a-f-]{36}\n/);
  const happened = happeningsIn(people);
  expect(happened[0]).toBe('first seen');
  expect(happened.at(-1)).toBe('ended');
  expect(happened.filter((what) => what === 'done')).toHaveLength(3 + servers.length);
  for (const text of [people.out, JSON.stringify(told)]) {
    expect(text).not.toContain(secret);
    expect(text).not.toContain(asBase64);
  }
});

it('tells who decided, when, and how they know; nothing that they wrote looks like a line of ours', async () => {
  const request = provisionRequest();
  const { label } = request;
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'reset-before', match: { label } });
  const saga = await rig.sagas.provision(request);
  await untilWaiting(saga, 'outcome-unknown');

  const before = await recordOf(request.reference);
  expect(before).toMatchObject({ state: 'open', placement: 'unknown' });
  const { id, inFlightUntil, intendedAt } = before.effects.at(-1)!;
  expect(before.effects.at(-1)).toMatchObject({ step: 'place-order', outcome: 'unknown', failure: 'UnknownOutcome' });
  expect(Date.parse(inFlightUntil!)).toBeGreaterThan(Date.parse(intendedAt));
  const open = await record(request.reference);
  expect(open.out).toContain('nobody knows whether the order was placed');
  expect(open.out).toMatch(/: open\n {2}no run has recorded its end/);

  const note = 'looked\u001b[2J\n2026-01-01T00:00:00.000Z  ended       done\u202e';
  await answer(saga, 'confirmNotPlaced', { by: 'ada', note });
  await saga.result();
  const after = await recordOf(request.reference);
  const [denied, placed] = after.effects.filter(({ kind }) => kind === 'pivot');
  expect(denied).toMatchObject({ id, outcome: 'denied', decided: { by: 'ada', note } });
  expect(denied).not.toHaveProperty('inFlightUntil');
  expect(placed).toMatchObject({ outcome: 'done' });
  expect(after).toMatchObject({ state: 'done', placement: 'placed', decisions: [{ decision: 'confirmNotPlaced' }] });

  const people = await record(request.reference, '--timeline');
  expect(happeningsIn(people).filter((what) => !['first seen', 'intended'].includes(what))).toEqual([
    ...['done', 'unknown', 'waits', 'answered', 'decided', 'done', 'ended'],
  ]);
  expect(people.out).toContain('place-order: not placed, says ada: looked [2J 2026-01-01T00:00:00.000Z ended done\n');
  // eslint-disable-next-line no-control-regex
  expect(people.out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
});

/** Of a timeline, without times and runs. */
const linesOf = ({ out }: Ended) =>
  out.split('\n').flatMap(
    (line) =>
      /^\d{4}-\S+Z {2}(.*)$/
        .exec(line)?.[1]
        ?.replace(/ {2,}/, ' ')
        .replace(/,? run \S+$/, '') ?? [],
  );

it('has each quote, wait and approval of a switch, and who approved it', async () => {
  const saga = await rig.sagas.switch(switchRequest({ reference: 'SW-1', subscription_id: 61, approval: 'always' }));
  const { id } = await untilWaiting(saga, 'approval');
  await answer(saga, 'approve', { by: 'ann', note: 'agreed in the round' });
  await saga.result();

  const quote = '31 usd, 2026-01-01 to 2026-02-01';
  const people = await record('SW-1', '--timeline');
  expect(happeningsIn(people)).toEqual([
    ...['first seen', 'waits', 'answered', 'approved', 'quoted', 'intended', 'done', 'ended'],
  ]);
  const lines = linesOf(people);
  expect(lines).toEqual(expect.arrayContaining([expect.stringMatching(/^asked decided \(approve\): identity \S+$/)]));
  const [, waits, answered, approved, quoted, intended] = lines.filter((line) => !line.startsWith('asked'));
  expect(waits).toContain(`waits approval at switch-plan, question ${id}: Approve the plan switch`);
  expect(waits).toContain(`: ${quote}?`);
  expect(answered).toBe('answered switch-plan: approve, says ann: agreed in the round');
  expect(approved).toMatch(/^approved 31 usd, until \S+, used by row [0-9a-f-]{36}, says ann: agreed in the round$/);
  expect(quoted).toBe(`quoted ${quote}`);
  expect(intended).toContain(`, quoted at ${quote}, row `);
  expect((await record('SW-1')).out).toContain(': switch-plan: approve, says ann: agreed in the round\n');
  expect(await recordOf('SW-1')).toMatchObject({
    waits: [{ id, run: saga.runId, kind: 'approval', decision: { decision: 'approve', by: 'ann' } }],
    approvals: [{ total: 31, currency: 'usd', by: 'ann' }],
  });
});

it('has who named the servers of an order, and who left out their firewalls', async () => {
  rig.sandbox.configure({ orderResponse: 'opaque' });
  const request = provisionRequest({ firewalls: [143] });
  rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'unauthorized', times: 'all' });
  const saga = await rig.sagas.provision(request);
  await untilWaiting(saga, 'servers');
  const [vmObjectId] = rig.serversOf(request);
  await answer(saga, 'provideServers', { by: 'ann', vmObjectIds: [vmObjectId] });
  const { id } = await untilWaiting(saga, 'stuck');
  await answer(saga, 'skip', { by: 'bob', note: 'it gets another one' });
  rig.sandbox.configure({ orderResponse: 'ids' });
  await saga.result();
  const named = `find-servers: provideServers ${vmObjectId}, says ann`;
  const skipped = `assign-firewalls-${vmObjectId}: skip, says bob: it gets another one`;
  const lines = linesOf(await record(request.reference, '--timeline'));
  expect(lines).toEqual(expect.arrayContaining([`answered ${named}`, `answered ${skipped}`]));
  expect(lines.filter((line) => line.includes(`question ${id}:`))).toHaveLength(1);
  const { out } = await record(request.reference);
  for (const one of [named, skipped]) expect(out).toContain(`Z: ${one}\n`);
});

it('has the quote and the wait of a change that was cancelled, and who cancelled it', async () => {
  const saga = await rig.sagas.change(changeRequest({ reference: 'CH-X', subscription_id: 62, approval: 'always' }));
  await untilWaiting(saga, 'approval');
  await saga.cancel({ by: 'ann', note: 'ordered twice' });
  await outcomeOf(saga);
  const people = await record('CH-X', '--timeline');
  expect(people.out).toMatch(/: Approve the change order \(subscription 62, \S+ by \d+\): /);
  expect(happeningsIn(people).sort()).toEqual(['answered', 'ended', 'first seen', 'quoted', 'waits']);
  expect(linesOf(people)).toContain('answered place-change-order: cancel, says ann: ordered twice');
});

it('has what was asked, and who answered, also of a run that never ended', async () => {
  const request = provisionRequest({ reference: 'PO-T', firewalls: [143] });
  rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'unauthorized', times: 'all' });
  const saga = await rig.sagas.provision(request);
  const { id } = await untilWaiting(saga, 'stuck');
  await answer(saga, 'retry', { by: 'bob' });
  await untilAnother(saga, id);
  await until(async () => (await recordOf('PO-T')).waits.length === 2);
  await rig.runOf(saga).terminate('enough');
  const told = await recordOf('PO-T');
  expect(told).toMatchObject({ state: 'open', decisions: [{ decision: 'retry', by: 'bob', question: id }] });
  expect(told.waits).toMatchObject([{ id, decision: { by: 'bob' } }, { kind: 'stuck' }]);
  expect(told.waits[1]).not.toHaveProperty('endedAt');
  expect((await record('PO-T')).out).toMatch(/ {2}waits for a decision \(stuck\) at assign-firewalls-\d+ since /);
});

it.each([[['never']], [['change/never']], [['never', '--workflow', 'provision']]])(
  'knows nothing of %j, and says of which journal that is said',
  async (args) => {
    const { status, out, err } = await record(...args);
    expect({ status, out }).toEqual({ status: 2, out: '' });
    expect(err).toBe(
      `the journal ${rig.journalUrl} knows nothing of never: no saga took it, or another journal has it\n`,
    );
  },
);
