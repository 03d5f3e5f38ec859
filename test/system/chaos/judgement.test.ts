/** The judge is judged: a ledger and an outcome that do not fit are noticed. */
import { Ledger } from '../../../sandbox/ledger';
import type { ChangeOrderPlaced, FirewallsChanged } from '../../../sandbox/ledger';
import type { Report } from '../../../src/domain/results';
import { judge } from './judgement';
import type { Lived } from './life';
import { planOf } from './plan';
import { toldByBoth } from './told-by-both';

const planned = planOf('a judge', 50).sagas.find(({ asked }) => asked.workflow === 'changeOrder')!;
const { request } = planned.asked as Extract<typeof planned.asked, { workflow: 'changeOrder' }>;

function place(ledger: Ledger): void {
  ledger.tookEffect<ChangeOrderPlaced>({
    type: 'changeOrderPlaced',
    changeOrderId: 1,
    subscriptionId: request.subscription_id,
    resources: [],
    total: 1,
    currency: 'usd',
  });
}

const lived = (changes: Partial<Lived> = {}): Lived => ({
  planned,
  asked: planned.asked,
  ended: { result: { reference: request.reference } },
  startedAnew: 0,
  surprises: [],
  ...changes,
});

const report = (kind?: 'placement-unknown'): Report => ({
  reference: request.reference,
  workflow: 'changeOrder',
  outcome: 'reversed-with-leftovers',
  why: 'cancelled',
  steps: [],
  known: {},
  leftovers: kind === undefined ? [] : [{ kind, step: 'place-change-order', why: 'lost' }],
  ignored: [],
  decisions: [],
});

it('has nothing to say of a saga that did as it says', () => {
  const ledger = new Ledger();
  place(ledger);
  expect(judge(ledger, [lived()], [])).toMatchObject({ violations: [], suspects: [] });
});

it.each<[string, number, Partial<Lived>, string[]]>([
  ['placed twice', 2, {}, ['bought twice', 'took effect 2 times']],
  ['claims what is not there', 0, {}, ['it did not']],
  ['hides what is there', 1, { ended: { cancelled: report() } }, ['does not say so']],
  ['was taken twice', 1, { surprises: ['another request was taken'] }, ['another request was taken']],
])('accuses one that %s', (_what, times, changes, sentences) => {
  const ledger = new Ledger();
  for (let placed = 0; placed < times; placed += 1) place(ledger);
  const { violations, suspects } = judge(ledger, [lived(changes)], []);
  expect(violations).toHaveLength(sentences.length);
  sentences.forEach((sentence, index) => expect(violations[index]).toContain(sentence));
  expect(suspects).toHaveLength(1);
});

it('accuses nobody of what the run before has told', () => {
  const ledger = new Ledger();
  place(ledger);
  const [told, silent] = [{ cancelled: report('placement-unknown') }, { cancelled: report() }];
  expect(judge(ledger, [lived({ before: told, ended: silent })], []).violations).toEqual([]);
  expect(toldByBoth(silent, silent)).toEqual({ cancelled: { ...silent.cancelled, outcome: 'partly' } });
});

it('accuses nobody of an order that the run before has placed, and says so', () => {
  const ledger = new Ledger();
  place(ledger);
  const steps = (status: 'done' | 'pending') => [{ id: 'place-change-order', title: '', status, attempts: 1 }];
  const placed = { cancelled: { ...report(), outcome: 'partly' as const, steps: steps('done') } };
  const last = { cancelled: { ...report(), steps: steps('pending') } };
  const untouched = { cancelled: { ...last.cancelled, outcome: 'untouched' as const } };
  expect(judge(ledger, [lived({ before: placed, ended: last })], []).violations).toEqual([]);
  expect(judge(ledger, [lived({ before: placed, ended: untouched })], []).violations).toEqual([]);
  expect(judge(ledger, [lived({ before: last, ended: untouched })], []).violations).toHaveLength(1);
  const lies = { cancelled: { ...placed.cancelled, outcome: 'reversed' as const } };
  expect(judge(ledger, [lived({ before: placed, ended: lies })], []).violations).toHaveLength(1);
});

it('takes firewalls for what the first run says, or for what the one after it has put back', () => {
  const firewalls = planOf('a judge', 50).sagas.find(({ asked }) => asked.workflow === 'setFirewalls')!;
  const asked = { workflow: 'setFirewalls' as const, request: { reference: 'R', vmObjectId: 1, exactly: [143] } };
  const [done, cancelled] = [{ result: { reference: 'R' } }, { cancelled: { ...report(), reference: 'R' } }];
  const judged = (ids: number[]) => {
    const ledger = new Ledger();
    const change = (type: 'firewallsAssigned' | 'firewallsUnassigned', before: number[], after: number[]) =>
      ledger.tookEffect<FirewallsChanged>({ type, vmObjectId: 1, firewalls: [], before, after });
    ledger.seeded({ vmObjectId: 1, account: null, label: null, firewalls: [150] });
    change('firewallsAssigned', [150], [150, 143]);
    change('firewallsUnassigned', [150, 143], [143]);
    change('firewallsAssigned', [143], [143, 150]);
    change('firewallsUnassigned', [143, 150], ids);
    return judge(ledger, [lived({ planned: firewalls, asked, before: done, ended: cancelled })], []).violations;
  };
  expect(judged([143])).toEqual([]);
  expect(judged([150])).toEqual([]);
  expect(judged([143, 150])).not.toEqual([]);
});

it('holds nothing against one of what another saga has taken from the same server', () => {
  const firewalls = planOf('a judge', 50).sagas.find(({ asked }) => asked.workflow === 'setFirewalls')!;
  const asking = (reference: string, changes: object) =>
    ({ workflow: 'setFirewalls', request: { reference, vmObjectId: 1, ...changes } }) as typeof firewalls.asked;
  const [one, other] = [asking('R', { unassign: [151] }), asking('S', { assign: [145] })];
  const done = (asked: typeof one) =>
    lived({ planned: { ...firewalls, asked }, asked, ended: { result: { reference: asked.request.reference } } });
  const judged = (kept: number[]) => {
    const ledger = new Ledger();
    const change = (type: 'firewallsAssigned' | 'firewallsUnassigned', before: number[], after: number[]) =>
      ledger.tookEffect<FirewallsChanged>({ type, vmObjectId: 1, firewalls: [], before, after });
    ledger.seeded({ vmObjectId: 1, account: null, label: null, firewalls: [150, 151] });
    change('firewallsUnassigned', [150, 151], kept);
    change('firewallsAssigned', kept, [150, 145]);
    return judge(ledger, [done(one), done(other)], []).violations;
  };
  expect(judged([150])).toEqual([]);
  expect(judged([])).toContain('setFirewalls S: the server was less protected for a moment');
});

it('names those that were forgotten', () => {
  expect(judge(new Ledger(), [], ['C-7']).violations).toEqual([expect.stringMatching(/^C-7: was forgotten/)]);
});
