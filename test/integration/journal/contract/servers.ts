/** A server is of one order: whoever names its id, another order does not get it. */
import { correctServers } from '../../../../src/journal/correct-servers';
import { recordOf } from '../../../../src/journal/views/record';
import { claimServers, hasServers, openServers, serversOf } from '../../../../src/journal/servers';
import { cartItem, provisionRequest } from '../../../support/requests';
import { assign, inFlightMs, journal, letPass, place, Run } from '../runs';

export function servers(): void {
  let id = 5_000;
  beforeEach(() => (id += 1));
  const answered = (...vmObjectIds: number[]) => ({ answer: { how: 'answered', value: { vmObjectIds } } });
  const order = { ...place(1), about: { cartItems: [], firewalls: [150] } };
  const ordered = async (...ids: number[]) => {
    const one = new Run(journal);
    await one.take({ label: 'web-1', firewalls: [150] });
    await one.do(order, 'done', answered(...ids));
    return one;
  };
  const of = (one: Run) => journal.read((db) => serversOf(db, one.key));
  // `toEqual` takes [] for [undefined].
  const openOf = async ({ key }: Run) =>
    (await openServers(journal)).flatMap((one) => (one.reference === key.reference ? [one.vmObjectId ?? 0] : []));

  it('an answer that names another order’s server is kept, and brings servers of unknown ids', async () => {
    const [first, second] = [await ordered(id), await ordered(id)];
    expect([await of(first), await of(second)]).toEqual([[id], []]);
    expect([await openOf(first), await openOf(second)]).toEqual([[id], [0]]);
  });

  it('an answer that names fewer than were ordered leaves servers of unknown ids, until all are named', async () => {
    const one = new Run(journal);
    await one.take({ ...provisionRequest({ items: [cartItem({ quantity: 2 })] }), firewalls: [150] });
    await one.do(order, 'done', answered(id), { rules: { duplicateWithinMs: 0, spendLimits: [] } });
    expect((await openOf(one)).sort()).toEqual([0, id]);
    const why = 'they were not assigned, and the saga has not ended';
    expect((await recordOf(journal, one.key))?.leftovers).toEqual([
      { kind: 'server-unprotected', firewalls: [150], why },
      { kind: 'server-unprotected', vmObjectId: id, firewalls: [150], why },
    ]);
    expect(await claimServers(journal, one.key, [id, id + 1_000])).toEqual([]);
    expect((await openOf(one)).sort()).toEqual([id, id + 1_000]);
  });

  it('names the order that has one, and takes none of them then', async () => {
    const [first, second] = [await ordered(id), await ordered()];
    const { reference } = first.key;
    const free = id + 1_000;
    expect(await claimServers(journal, second.key, [free, id])).toEqual([{ vmObjectId: id, reference }]);
    expect(await of(second)).toEqual([]);
    expect(await claimServers(journal, second.key, [free])).toEqual([]);
    expect(await of(second)).toEqual([free]);
  });

  it('of orders that name it at the same moment, one has it', async () => {
    const orders = await Promise.all(Array.from({ length: 5 }, () => ordered()));
    const claimed = await Promise.all(orders.map(({ key }) => claimServers(journal, key, [id])));
    expect(claimed.filter((others) => others.length === 0)).toHaveLength(1);
    const has = await Promise.all(orders.map(of));
    expect(has.flat()).toEqual([id]);
  });

  it('what is named last are all that it has', async () => {
    const one = await ordered(id);
    await claimServers(journal, one.key, [id + 1_000]);
    expect(await of(one)).toEqual([id + 1_000]);
    expect(await claimServers(journal, (await ordered()).key, [id])).toEqual([]);
  });

  it('a person’s “placed” with another order’s server is not written', async () => {
    const first = await ordered(id);
    const second = await Run.begin(journal);
    const { cursor } = await second.do(order, 'unknown');
    await letPass(journal, inFlightMs);
    const others = [{ vmObjectId: id, reference: first.key.reference }];
    expect(await second.confirm(cursor.row, { how: 'confirmed', vmObjectIds: [id] }, 'in the panel')).toEqual(others);
    expect(await second.intend(order)).toMatchObject({ how: 'unknown' });
  });

  it('firewalls are not assigned to another order’s server', async () => {
    const [first, second] = [await ordered(id), await ordered()];
    const call = { ...assign, about: { vmObjectId: id, firewalls: [150] } };
    const why = `${id} is a server of ${first.key.reference}`;
    expect(await second.intend(call)).toMatchObject({ how: 'changed', why });
    expect(await first.intend(call)).toMatchObject({ how: 'send' });
  });

  it('a server that was there before the order is none of its own, unless a person corrects it', async () => {
    const [changed, listed, free, own] = [id, id + 1_000, id + 2_000, id + 3_000];
    const change = (vmObjectId: number) => ({ ...assign, about: { vmObjectId, firewalls: [149] } });
    const older = await Run.begin(journal, 'setFirewalls');
    await older.do({ ...change(changed), step: 'one' }, 'unknown', { failure: 'UnknownOutcome' });
    // That it was refused does not say that there is one.
    await older.do({ ...change(free), step: 'two' }, 'not-done', { failure: 'Rejected' });
    await letPass(journal, 10);
    const one = new Run(journal);
    await one.take({ label: 'web-1', firewalls: [150] });
    await one.do(order, 'done', answered(changed), { note: { foundBy: 'web-1', listedBefore: [listed] } });
    const has = (...ids: number[]) => hasServers(journal, one.key, ids);
    const claimed = (...ids: number[]) => claimServers(journal, one.key, ids);
    expect(await has(changed)).toBe(false);
    expect(await claimed(own, changed, listed)).toEqual(
      [changed, listed].map((vmObjectId) => ({ vmObjectId, isOlder: true })),
    );
    expect([await of(one), await openOf(one)]).toEqual([[], [0]]);
    expect([await claimed(own, free), await has(own, free)]).toEqual([[], true]);
    await (await Run.begin(journal, 'setFirewalls')).do(change(own));
    expect(await claimed(own)).toEqual([]);
    await one.end();
    expect(await correctServers(journal, one.key.reference, [changed], { by: 'ann', note: 'seen' })).toEqual({
      how: 'corrected',
    });
    expect([await claimed(changed), await of(one)]).toEqual([[], [changed]]);
  });

  describe('a person corrects the ids of an order', () => {
    const said = { by: 'ann', note: 'seen in the panel' };
    const ended = async (...ids: number[]) => {
      const one = await ordered(...ids);
      await one.end('done', { report: { ended: 'done', report: { leftovers: [], known: { vmObjectIds: ids } } } });
      return one;
    };
    const correct = ({ key }: Run, ids: number[], from?: Run) =>
      correctServers(journal, key.reference, ids, { ...said, from: from?.key.reference });

    it('and another order may have those that it loses; it lacks firewalls on those that it gets', async () => {
      const [first, second, right] = [await ended(id), await ordered(), id + 1_000];
      expect(await correct(first, [right])).toEqual({ how: 'corrected' });
      expect([await of(first), await openOf(first)]).toEqual([[right], [right]]);
      expect(await claimServers(journal, first.key, [id])).toEqual([{ vmObjectId: id }]);
      expect(await claimServers(journal, second.key, [id])).toEqual([]);
      const record = await recordOf(journal, first.key);
      expect(record).toMatchObject({
        servers: [{ vmObjectId: right }],
        serversCorrected: [
          { vmObjectId: id, isOwn: false, ...said },
          { vmObjectId: right, isOwn: true, ...said },
        ],
      });
    });

    it('and takes them from the order that is named, which has none then; both have a row of it', async () => {
      const [first, second] = [await ended(id), await ended(id + 1_000)];
      const others = [{ vmObjectId: id, reference: first.key.reference }];
      expect(await correct(second, [id])).toEqual({ how: 'others', others });
      expect(await correct(second, [id], first)).toEqual({ how: 'corrected' });
      expect([await of(first), await of(second)]).toEqual([[], [id]]);
      expect(await openOf(first)).toEqual([0]);
      const rowsOf = async ({ key }: Run) => (await recordOf(journal, key))?.serversCorrected;
      expect(await rowsOf(first)).toMatchObject([{ vmObjectId: id, isOwn: false, to: second.key.reference, ...said }]);
      const from = first.key.reference;
      expect(await rowsOf(second)).toMatchObject([{ vmObjectId: id, isOwn: true, from }, { isOwn: false }]);
      // What it has lost, it may get again.
      expect(await correct(first, [id], second)).toEqual({ how: 'corrected' });
      expect(await of(first)).toEqual([id]);
    });

    it('and the order that loses one of two by it has one again that nobody knows, also if it had none', async () => {
      const [loser, second] = [new Run(journal), await ended(id + 2_000)];
      await loser.take({ ...provisionRequest({ items: [cartItem({ quantity: 2 })] }), firewalls: [150] });
      await loser.do(order, 'done', {}, { rules: { duplicateWithinMs: 0, spendLimits: [] } });
      await loser.end();
      expect(await openOf(loser)).toEqual([]);
      expect(await correct(loser, [id, id + 1_000])).toEqual({ how: 'corrected' });
      expect(await correct(second, [id], loser)).toEqual({ how: 'corrected' });
      expect([await of(loser), (await openOf(loser)).sort()]).toEqual([[id + 1_000], [0, id + 1_000]]);
      // Fewer than it has ordered: a person says so.
      expect(await correct(loser, [id + 1_000])).toEqual({ how: 'corrected' });
      expect(await openOf(loser)).toEqual([id + 1_000]);
    });

    it('but not while its saga goes on, and not where nothing was placed', async () => {
      const open = await ordered(id);
      expect(await correct(open, [])).toEqual({ how: 'open', reference: open.key.reference });
      const none = await Run.begin(journal);
      expect(await correct(none, [])).toEqual({ how: 'not-placed', reference: none.key.reference });
      expect(await of(open)).toEqual([id]);
    });
  });

  it('a server of an order that was cancelled is free', async () => {
    const first = await ordered(id);
    await journal.cancelled(first.key, { by: 'ann', note: 'in the panel' });
    const second = await ordered(id);
    expect(await of(second)).toEqual([id]);
  });
}
