import { randomUUID } from 'node:crypto';
import { parsePriceList } from '../../../../src/config/price-list';
import type { ReviewReason } from '../../../../src/domain/spending';
import { bought } from '../../../../src/journal/purchases';
import { provisionRequest } from '../../../support/requests';
import { approve, journal, letPass, place, Run } from '../runs';
import { listOf } from '../../../support/listed';

const priceOf = (price: number) => ({
  duplicateWithinMs: 0,
  spendLimits: [],
  priceList: parsePriceList(JSON.stringify({ currency: 'USD', plans: [{ plan_id: 17, billing_cycle: 1, price }] })),
});
const rules = priceOf(25);

export function approvals(): void {
  let run: Run;
  beforeEach(async () => {
    run = new Run(journal, { workflow: 'provisionServers', reference: randomUUID() });
    const request = provisionRequest({ items: [{ plan_id: 17 }], approval: 'always' });
    await run.take({ ...request, reference: run.key.reference });
  });

  /** @returns undefined where nobody is asked: then the order is intended */
  async function asked(by = run, { at = rules, corrections = 0 } = {}): Promise<ReviewReason | undefined> {
    const intended = await by.intend(place(1), { rules: at, corrections });
    if (intended.how === 'asks') return intended.concern;
    expect(intended.how).toBe('send');
    return undefined;
  }
  async function approved(holdsMs?: number): Promise<void> {
    await approve(run, (await asked())!, holdsMs);
  }
  const correct = (correction: object) =>
    journal.correct(run.key, { id: randomUUID(), run: run.run, step: 'place-order', by: 'ann', correction });

  it('let one order through, also one of a later run', async () => {
    expect(await asked()).toMatchObject({ kind: 'approval', terms: { total: 25, currency: 'usd' } });
    await approved();
    const again = run.again();
    await again.take({ ...((await journal.firstRequest(run.key)) as object) });
    expect(await asked(again)).toBeUndefined();
  });

  it('are refused a second use by the table itself', async () => {
    await approved();
    await asked();
    const [use] = await journal.db.selectFrom('approval_use').selectAll().orderBy('approval').execute();
    await expect(journal.db.insertInto('approval_use').values(use!).execute()).rejects.toThrow(/unique/i);
  });

  it('hold again after an order that was surely not placed', async () => {
    await approved();
    await run.do(place(1), 'not-done', {}, { rules });
    expect(await asked()).toBeUndefined();
  });

  it('hold no more after an order that a person has said was not placed', async () => {
    await approved();
    await run.doInVain(place(1), { rules });
    expect(await asked()).toMatchObject({ kind: 'approval' });
  });

  it('hold no more after their time', async () => {
    await approved(60_000);
    await letPass(journal, 61_000);
    expect(await asked()).toMatchObject({ kind: 'approval' });
  });

  it('hold at no other price', async () => {
    await approved();
    expect(await asked(run, { at: priceOf(26) })).toMatchObject({
      terms: { total: 26 },
      why: ['It was approved at 25 usd.'],
    });
  });

  it('hold after a correction only where it buys the same', async () => {
    await approved();
    await correct({ label: 'another' });
    await correct({ items: [1], quantity: 2 });
    expect(await asked(run, { corrections: 2 })).toMatchObject({ kind: 'approval', terms: { total: 50 } });
    await correct({ items: [1], quantity: 1 });
    expect(await asked(run, { corrections: 3 })).toBeUndefined();
  });

  it('are another reference’s business only there', async () => {
    const concern = (await asked())!;
    const other = new Run(journal, { workflow: 'provisionServers', reference: randomUUID() });
    await other.take({ ...((await journal.firstRequest(run.key)) as object), reference: other.key.reference });
    await approve(other, concern);
    expect(await asked()).toMatchObject({ kind: 'approval' });
  });

  it('say with the purchase who has given them', async () => {
    await approved();
    await run.do(place(1), 'done', {}, { rules });
    const purchase = (await listOf(bought(journal, {}))).find(({ reference }) => reference === run.key.reference);
    expect(purchase).toMatchObject({ by: ['boss'] });
  });
}
