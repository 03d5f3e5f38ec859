/** The judge is judged: a ledger and an outcome that do not fit are noticed. */
import { Ledger } from '../../../sandbox/ledger';
import type { ChangeOrderPlaced, FirewallsChanged } from '../../../sandbox/ledger';
import type { Report } from '../../../src/domain/results';
import { judge } from './judgement';
import type { Lived } from './life';
import { planOf } from './plan';

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
