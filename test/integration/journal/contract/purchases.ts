import { randomUUID } from 'node:crypto';
import type { AnsweredOutcome, PivotNote } from '../../../../src/domain/effects';
import type { WorkflowName } from '../../../../src/domain/identity';
import type { CartItem } from '../../../../src/domain/requests';
import { parsePriceList } from '../../../../src/config/price-list';
import { parseSpendLimits, type ReviewReason } from '../../../../src/domain/spending';
import { bought as listed, type PurchaseRules } from '../../../../src/journal/purchases';
import type { Intended } from '../../../../src/journal/decide';
import { openJournal } from '../../../../src/journal/open';
import { openServers } from '../../../../src/journal/servers';
import { parsePayloadKeys } from '../../../../src/security/keys';
import { createSealing } from '../../../../src/security/sealing';
import { changeRequest, provisionRequest, switchRequest } from '../../../support/requests';
import type { TestDatabases } from '../databases';
import { approve, journal, letPass, place, Run } from '../runs';
import { listOf } from '../../../support/listed';

type Rules = Partial<PurchaseRules>;

const minuteMs = 60_000;

/** The same for all, but for what a test says. */
const rulesOf = (rules: Rules = {}): PurchaseRules => ({
  ...{ duplicateWithinMs: 0, spendLimits: [] },
  ...rules,
});
const duplicates: Rules = { duplicateWithinMs: 10 * minuteMs };
const limited = (limits: string): Rules => ({ spendLimits: parseSpendLimits(limits) });

function concernIn(intended: Intended): ReviewReason {
  if (intended.how !== 'asks') throw new Error(`nobody is asked: ${intended.how}`);
  return intended.concern;
}

export function purchases(databases: TestDatabases): void {
  let account: string;
  beforeEach(() => {
    account = `AB-${String(Math.floor(Math.random() * 1e12))}`;
  });

  async function taken(workflow: WorkflowName, request: object, into = journal): Promise<Run> {
    const run = new Run(into, { workflow, reference: randomUUID() });
    await run.take({ ...request, reference: run.key.reference });
    return run;
  }
  const order = (changes: object = {}, into = journal) =>
    taken('provisionServers', { ...provisionRequest({ items: [{ plan_id: 17 }] }), account, ...changes }, into);
  const change = (changes: object = {}) => taken('changeOrder', { ...changeRequest(), account, ...changes });
  const buy = (run: Run, rules: Rules, note?: PivotNote) => run.intend(place(1), { rules: rulesOf(rules), note });
  const bought = async (run: Run, outcome: AnsweredOutcome | null = 'done', note?: PivotNote) => {
    await run.do(place(1), outcome, {}, { rules: rulesOf(), note });
    return run;
  };
  const quoted = (total: number, currency = 'usd'): PivotNote => ({
    foundBy: 'somewhere',
    quote: { available: true, total, currency, date_from: '2026-01-01', date_to: '2026-02-01' },
  });

  describe('likely duplicates', () => {
    it('are told with the reference and the time, and nothing is intended', async () => {
      const before = await bought(await order({ label: 'one' }));
      const again = await order({ label: 'other' });
      const concern = concernIn(await buy(again, duplicates));
      expect(concern).toEqual({
        ...{ id: expect.any(String), same: expect.any(String) },
        kind: 'duplicate',
        others: [{ row: before.cursor?.row, ...before.key, at: expect.stringMatching(/^\d{4}-.*Z$/) }],
        more: false,
        withinMs: 10 * minuteMs,
      });
      await expect(again.intend(place(1))).resolves.toMatchObject({ how: 'send', doubts: 0 });
    });

    it.each([
      ['done', 'asks'],
      ['unknown', 'asks'],
      [null, 'asks'],
      ['not-done', 'send'],
    ] as const)('that are of outcome %s: %s', async (outcome, how) => {
      await bought(await order(), outcome);
      await expect(buy(await order(), duplicates)).resolves.toMatchObject({ how });
    });

    it('that a person said were not placed do not count', async () => {
      await (await order()).doInVain(place(1), { rules: rulesOf() });
      await expect(buy(await order(), duplicates)).resolves.toMatchObject({ how: 'send' });
    });

    it('are of the period, and of another reference', async () => {
      const before = await bought(await order());
      await expect(buy(before.again(), duplicates)).resolves.toMatchObject({ how: 'recorded' });
      await letPass(journal, 9 * minuteMs);
      await expect(buy(await order(), duplicates)).resolves.toMatchObject({ how: 'asks' });
      await letPass(journal, minuteMs);
      await expect(buy(await order(), duplicates)).resolves.toMatchObject({ how: 'send' });
    });

    it.each<[string, Record<string, unknown> & { items?: Partial<CartItem>[] }, string]>([
      ['a label', { label: 'any' }, 'asks'],
      ['a password', { items: [{ plan_id: 17, password: 'another one' }] }, 'asks'],
      ['firewalls', { firewalls: [1] }, 'asks'],
      ['a currency where none was named', { currency: 'USD' }, 'asks'],
      ['another plan', { items: [{ plan_id: 18 }] }, 'send'],
      ['another quantity', { items: [{ plan_id: 17, quantity: 2 }] }, 'send'],
      ['another add-on', { items: [{ plan_id: 17, addons: [{ id: 6, additional_value: 1 }] }] }, 'send'],
      ['another billing cycle', { items: [{ plan_id: 17, billing_cycle: 12 }] }, 'send'],
      ['another account', { account: 'ZZ-1' }, 'send'],
    ])('are the same but for %s: %p: %s', async (_, { items, ...changes }, how) => {
      await bought(await order());
      const other = items === undefined ? changes : { items: provisionRequest({ items }).items };
      await expect(buy(await order(other), duplicates)).resolves.toMatchObject({ how });
    });

    it('are the same in whatever order, and as one item or as two', async () => {
      const items = (all: { plan_id: number; quantity?: number }[]) => provisionRequest({ items: all }).items;
      await bought(await order({ items: items([{ plan_id: 1 }, { plan_id: 2, quantity: 2 }]) }));
      const other = await order({ items: items([{ plan_id: 2 }, { plan_id: 2 }, { plan_id: 1, quantity: 1 }]) });
      await expect(buy(other, duplicates)).resolves.toMatchObject({ how: 'asks' });
    });

    it('are the same change, or the same switch, of one subscription', async () => {
      const { subscription_id, resources } = changeRequest();
      await bought(await change({ subscription_id, resources }), 'done', quoted(5));
      const more = [{ ...resources[0], delta_value: '2' }];
      for (const [other, how] of [
        [await change({ subscription_id, account: undefined }), 'asks'],
        [await change({ subscription_id, resources: more }), 'send'],
        [await change({ resources }), 'send'],
        [await taken('switchPlan', { subscription_id, plan_id: 21 }), 'send'],
        [await taken('switchPlan', { subscription_id, plan_id: 21 }), 'asks'],
        [await taken('switchPlan', { subscription_id, plan_id: 22 }), 'send'],
        [await taken('switchPlan', switchRequest()), 'send'],
      ] as const) {
        await expect(buy(other, duplicates, quoted(7))).resolves.toMatchObject({ how });
      }
    });

    it('that a person has agreed to are not told again; another one that came since is', async () => {
      await bought(await order());
      const again = await order();
      await approve(again, concernIn(await buy(again, duplicates)));
      const third = await bought(await order());
      const concern = concernIn(await buy(again, duplicates));
      expect(concern).toMatchObject({ others: [third.key, {}] });
      await approve(again, concern);
      await expect(buy(again, duplicates)).resolves.toMatchObject({ how: 'send' });
    });

    it('of two at the same moment are one that is sent, and one that asks', async () => {
      for (let round = 0; round < 10; round += 1) {
        account = `AB-${round}${account.slice(3)}`;
        const runs = await Promise.all([order(), order()]);
        const intended = await Promise.all(runs.map((run) => buy(run, duplicates)));
        expect(intended.map(({ how }) => how).sort()).toEqual(['asks', 'send']);
      }
    });
  });

  describe('spend limits', () => {
    it('count the servers and the items of orders, by account and period', async () => {
      const items = provisionRequest({ items: [{ quantity: 2 }, { quantity: 1 }] }).items;
      await bought(await order({ items }));
      await expect(buy(await order(), limited(`${account}=4 servers/1h`))).resolves.toMatchObject({ how: 'send' });
      const concern = concernIn(await buy(await order({ items }), limited(`${account}=6 servers/1h`)));
      expect(concern).toMatchObject({
        ...{ id: expect.any(String), kind: 'over-limit', account, most: 6, unit: 'servers', withinMs: 60 * minuteMs },
        ...{ spent: 4, adds: 3 },
      });
      expect(concernIn(await buy(await order({ items }), limited('*=4 items/1h')))).toMatchObject({
        ...{ unit: 'items', spent: 3, adds: 2 },
      });
      await letPass(journal, 60 * minuteMs);
      const later = buy(await order({ items }), limited(`${account}=6 servers/1h`));
      await expect(later).resolves.toMatchObject({ how: 'send' });
    });

    it('count the totals of changes and switches, each in its own currency', async () => {
      await bought(await change(), 'done', quoted(0.1));
      await bought(await change(), 'unknown', quoted(0.2));
      await bought(await change(), 'not-done', quoted(100));
      await bought(await change(), 'done', quoted(-50));
      await bought(await change(), 'done', quoted(40, 'eur'));
      await bought(await order({ currency: 'usd' }));
      const rules = limited(`${account}=10.3 usd/1d`);
      expect(concernIn(await buy(await change(), rules, quoted(10.01)))).toMatchObject({ unit: 'usd', adds: 10.01 });
      await expect(buy(await order({ currency: 'usd' }), rules)).resolves.toMatchObject({ how: 'send' });
      const inEuros = concernIn(await buy(await change(), rules, quoted(99, 'eur')));
      expect(inEuros).toMatchObject({ unit: 'usd', adds: 0, unpriced: 'its price is in eur' });
      const bySwitch = await taken('switchPlan', { ...switchRequest(), account });
      await expect(buy(bySwitch, rules, quoted(10))).resolves.toMatchObject({ how: 'send' });
      expect(concernIn(await buy(await change(), rules, quoted(1)))).toMatchObject({ adds: 1 });
    });

    it('count the estimates of orders, and ask where there is none', async () => {
      const plans = [{ plan_id: 17, billing_cycle: 1, price: 4 }];
      const priceList = parsePriceList(JSON.stringify({ currency: 'usd', plans }));
      const rules: Rules = { ...limited(`${account}=10 usd/1h`), priceList };
      const run = await order();
      await run.do(place(1), 'done', {}, { rules: rulesOf(rules) });
      await bought(await change(), 'done', quoted(2));
      expect(await buy(await order(), { ...rules, priceList: undefined })).toMatchObject({ how: 'send' });
      expect(concernIn(await buy(await change(), rules, quoted(4.1)))).toMatchObject({ spent: 6, adds: 4.1 });
      await expect(buy(await order(), rules)).resolves.toMatchObject({ how: 'send' });
      const unpriced = provisionRequest({ items: [{ plan_id: 99 }] }).items;
      const unknown = concernIn(await buy(await order({ items: unpriced }), rules));
      expect(unknown).toMatchObject({ unit: 'usd', adds: 0, unpriced: expect.stringContaining('plan 99') });
      const other = await order({ items: unpriced });
      await approve(other, { ...unknown, unpriced: undefined } as ReviewReason);
      const asked = concernIn(await buy(other, rules));
      await approve(other, asked);
      await expect(buy(other, rules)).resolves.toMatchObject({ how: 'send' });
    });

    it('cannot be told of what names no account: that is asked', async () => {
      const rules = limited('AB-1=100 usd/1d');
      const nameless = () => change({ account: undefined });
      const concern = concernIn(await buy(await nameless(), rules, quoted(1)));
      expect(concern).toMatchObject({ kind: 'over-limit', adds: 1, unit: 'usd' });
      expect(concern).not.toHaveProperty('account');
      await expect(buy(await nameless(), rules, quoted(1, 'eur'))).resolves.toMatchObject({ how: 'asks' });
      const run = await nameless();
      await approve(run, concernIn(await buy(run, rules, quoted(1))));
      await expect(buy(run, rules, quoted(2))).resolves.toMatchObject({ how: 'asks' });
      await expect(buy(run, rules, quoted(1))).resolves.toMatchObject({ how: 'send' });
    });

    it('count both orders where a late answer shows that there are two, until the provider has cancelled it', async () => {
      const run = await order();
      const rules = rulesOf();
      const [late, kept] = [1, 2].map((id) => ({ ...place(id), about: { cartItems: [id], firewalls: [143] } }));
      const brings = (vmObjectId: number) => ({ answer: { how: 'answered', value: { vmObjectIds: [vmObjectId] } } });
      const first = await run.doInVain(late!, { rules });
      const second = await run.do(kept!, 'done', brings(9002), { rules });
      await run.answer(late!, first, 'done', brings(9001));
      const spent = async () => concernIn(await buy(await order(), limited(`${account}=1 servers/1d`)));
      const found = async () => {
        const fates = (await listOf(listed(journal, { account }))).map(({ fate }) => fate);
        const open = (await openServers(journal)).filter(({ reference }) => reference === run.key.reference);
        return [fates, open.map(({ vmObjectId }) => vmObjectId).sort()];
      };
      expect(await spent()).toMatchObject({ spent: 2 });
      expect(await found()).toEqual([
        ['placed', 'placed'],
        [9001, 9002],
      ]);
      const cancelled = (row: string) => journal.secondCancelled(run.key, row, { by: 'me', note: 'in the panel' });
      expect([await cancelled(second.cursor.row), await cancelled(first.cursor.row)]).toEqual([false, true]);
      expect(await spent()).toMatchObject({ spent: 1 });
      expect(await found()).toEqual([['cancelled', 'placed'], [9002]]);
      expect(await cancelled(first.cursor.row)).toBe(false);
      expect(await run.again().intend(kept!)).toMatchObject({ how: 'recorded' });
    });

    it('and are told with one time, whatever they are looked for by', async () => {
      const runs: Run[] = [];
      for (let index = 0; index < 10; index++) runs.push(await bought(await order()));
      const timesOf = async (filter: object) => {
        const times = new Map((await listOf(listed(journal, filter))).map(({ reference, at }) => [reference, at]));
        return runs.map(({ key }) => times.get(key.reference));
      };
      const times = await timesOf({ account });
      expect(times).not.toContain(undefined);
      expect(await timesOf({ sinceMs: Date.now() - minuteMs })).toEqual(times);
    });

    it('that a person has agreed to exceed are exceeded by so much, and asked about again for more', async () => {
      const rules = limited(`${account}=1 servers/1d`);
      await bought(await order());
      const over = await order();
      await approve(over, concernIn(await buy(over, rules)));
      await bought(await order());
      const again = concernIn(await buy(over, rules));
      expect(again).toMatchObject({ spent: 2, adds: 1 });
      await approve(over, again);
      await expect(buy(over, rules)).resolves.toMatchObject({ how: 'send' });
    });
  });

  it('are asked about one thing after the other', async () => {
    await bought(await order());
    const run = await order();
    const rules = { ...duplicates, ...limited('*=1 servers/1d') };
    const first = concernIn(await buy(run, rules));
    await approve(run, first);
    const second = concernIn(await buy(run, rules));
    await approve(run, second);
    expect([first.kind, second.kind]).toEqual(['duplicate', 'over-limit']);
    await expect(buy(run, rules)).resolves.toMatchObject({ how: 'send' });
  });

  it('of which the request cannot be read are not let through', async () => {
    const address = await databases.fresh();
    const key = (id: string) => parsePayloadKeys(`${id}:${Buffer.alloc(32, id).toString('base64')}`);
    const [one, other] = await Promise.all(['one', 'other'].map((id) => openJournal(address, createSealing(key(id)))));
    const run = await order({}, one);
    await expect(buy(run.on(other!), duplicates)).rejects.toThrow(/first request.*PAYLOAD_KEYS/);
    await expect(buy(run.on(other!), {})).rejects.toThrow(/first request.*PAYLOAD_KEYS/);
    await Promise.all([one!.close(), other!.close()]);
  });
}
