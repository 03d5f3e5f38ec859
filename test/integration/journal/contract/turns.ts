import { randomUUID } from 'node:crypto';
import { workflowIdOf } from '../../../../src/domain/identity';
import { isUniqueViolation } from '../../../../src/journal/database/errors';
import { dropTurn, takeTurn, whoIsNext } from '../../../../src/journal/turns';
import { assign, journal, letPass, place, Run } from '../runs';

export function turns(): void {
  let resource: string;
  beforeEach(() => {
    resource = `server ${randomUUID()}`;
  });

  const arrive = (run: Run) => takeTurn(journal, run.key, resource);
  const begin = () => Run.begin(journal, 'setFirewalls');
  /** @returns the one to notify */
  const end = async (run: Run) => {
    const ended = await run.end('done', { resource });
    if (ended.how !== 'written') throw new Error(`it has ${ended.how}`);
    return ended.next;
  };
  const idOf = ({ key }: Run) => workflowIdOf(key.workflow, key.reference);
  const begun = { how: 'begun', turn: expect.any(String) };
  const placeOf = ({ key }: Run): unknown => expect.objectContaining(key);
  const turnOf = async (run: Run) => {
    const taken = await arrive(run);
    if (taken.how !== 'begun') throw new Error(`it has ${taken.how}`);
    return taken.turn;
  };
  const placeBefore = async (run: Run) => {
    const taken = await arrive(run);
    if (taken.how !== 'queued') throw new Error(`it has ${taken.how}`);
    return taken.behind;
  };

  it('are had by one saga at a time, in the order of arrival', async () => {
    const [first, second, third] = [await begin(), await begin(), await begin()];
    await expect(arrive(first)).resolves.toEqual(begun);
    const queued = await arrive(second);
    expect(queued).toEqual({
      ...{ how: 'queued', resource, before: 1, holder: idOf(first), behind: placeOf(first) },
      since: expect.stringMatching(/^\d{4}-.*Z$/),
      waitedMs: expect.any(Number),
    });
    await expect(arrive(third)).resolves.toMatchObject({ before: 2, holder: idOf(first), behind: placeOf(second) });
    await expect(whoIsNext(journal, resource)).resolves.toBeUndefined();

    await expect(end(first)).resolves.toEqual(placeOf(second));
    // It was not told yet: nobody overtakes it.
    await expect(arrive(await begin())).resolves.toMatchObject({ how: 'queued', before: 2, holder: idOf(second) });
    await expect(arrive(third)).resolves.toMatchObject({ how: 'queued', before: 1 });
    await expect(whoIsNext(journal, resource)).resolves.toEqual(placeOf(second));
    await expect(arrive(second)).resolves.toEqual(begun);
  });

  it('are one for each server and subscription', async () => {
    await arrive(await begin());
    resource = `subscription ${randomUUID()}`;
    await expect(arrive(await begin())).resolves.toEqual(begun);
  });

  it('are kept by a saga that asks again, in whichever run; its place too, since when it came', async () => {
    const [first, second] = [await begin(), await begin()];
    const turn = await turnOf(first);
    expect(await turnOf(first.again())).toBe(turn);
    const queued = await arrive(second);
    const again = await arrive(second.again());
    expect(again).toEqual({ ...queued, waitedMs: expect.any(Number) });
  });

  it('begin for one only where many come at once', async () => {
    const runs = await Promise.all(Array.from({ length: 8 }, begin));
    const taken = await Promise.all(runs.map((run) => arrive(run)));
    expect(taken.filter(({ how }) => how === 'begun')).toHaveLength(1);
    const before = taken.flatMap((one) => (one.how === 'queued' ? [one.before] : [])).sort();
    expect(before).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  it('are one by a constraint, whatever the code does', async () => {
    const row = () => ({ id: randomUUID(), resource, workflow: 'setFirewalls' as const, reference: randomUUID() });
    const insert = (begun_ms: number | null) =>
      journal.db
        .insertInto('turn')
        .values({ ...row(), since_ms: 0, begun_ms })
        .execute();
    await insert(1);
    await insert(null);
    await insert(null);
    const refusal = await insert(2).catch((error: unknown) => error);
    expect(isUniqueViolation(refusal)).toBe(true);
  });

  it('are given back by who only waits, and nobody’s turn comes by that', async () => {
    const [first, second, third] = [await begin(), await begin(), await begin()];
    for (const run of [first, second, third]) await arrive(run);
    await expect(end(second)).resolves.toBeUndefined();
    await expect(arrive(third)).resolves.toMatchObject({ before: 1, behind: placeOf(first) });
    await expect(end(first)).resolves.toEqual(placeOf(third));
    await expect(arrive(third)).resolves.toEqual(begun);
    await expect(end(third)).resolves.toBeUndefined();
  });

  it('are needed no more for what was placed before', async () => {
    const first = await begin();
    await arrive(first);
    const placed = await Run.begin(journal, 'changeOrder');
    await placed.do(place());
    await expect(arrive(placed.again())).resolves.toEqual({ how: 'already-placed' });
    const open = await Run.begin(journal, 'changeOrder');
    await open.send(place());
    await expect(arrive(open.again())).resolves.toMatchObject({ how: 'queued' });
  });

  it('are not had by a saga that has ended: a call of it that stood still asks in vain', async () => {
    const first = await begin();
    await arrive(first);
    await end(first);
    await expect(arrive(first)).resolves.toEqual({ how: 'already-placed' });
    await expect(arrive(await begin())).resolves.toEqual(begun);
  });

  it('are taken from a saga that is gone, once none of its calls can be in flight', async () => {
    const [gone, next] = [await begin(), await begin()];
    const turn = await turnOf(gone);
    const behind = await placeBefore(next);
    const intended = await gone.send(assign, { turn });
    await expect(dropTurn(journal, behind)).resolves.toBeGreaterThan(1_000);
    await expect(arrive(next)).resolves.toMatchObject({ how: 'queued', before: 1 });
    await gone.answer(assign, intended, 'unknown');
    await expect(dropTurn(journal, behind)).resolves.toBeGreaterThan(1_000);
    await letPass(journal);
    // Taken away twice, it is only one place.
    for (const _ of ['once', 'twice']) {
      await expect(dropTurn(journal, behind)).resolves.toBe(0);
      await expect(arrive(next)).resolves.toEqual(begun);
    }
  });

  describe('of a saga that has ended while a call of it may be in flight', () => {
    const ended = async (outcome: 'unknown' | null = null) => {
      const [first, second] = [await begin(), await begin()];
      const turn = await turnOf(first);
      const sent = await first.do(assign, outcome, {}, { turn });
      await arrive(second);
      return { first, second, turn, sent, told: await end(first) };
    };

    it.each([null, 'unknown'] as const)('are nobody’s until it no longer can be (outcome %s)', async (outcome) => {
      const { first, second, told } = await ended(outcome);
      // It is told so that it looks when the time is over.
      expect(told).toEqual(placeOf(second));
      await expect(whoIsNext(journal, resource)).resolves.toEqual(placeOf(second));
      const queued = await arrive(second);
      expect(queued).toMatchObject({ how: 'queued', before: 1, behind: first.key, inFlightMs: expect.any(Number) });
      expect(await arrive(await begin())).not.toHaveProperty('inFlightMs');
      await letPass(journal);
      await expect(arrive(second)).resolves.toEqual(begun);
      await expect(whoIsNext(journal, resource)).resolves.toBeUndefined();
    });

    it('are kept for a change order as well, of which nobody knows yet whether it was placed', async () => {
      const [first, second] = [await Run.begin(journal, 'changeOrder'), await Run.begin(journal, 'switchPlan')];
      await first.do(place(), 'unknown', {}, { turn: await turnOf(first) });
      await end(first);
      await expect(arrive(second)).resolves.toMatchObject({ how: 'queued', inFlightMs: expect.any(Number) });
      await letPass(journal);
      await expect(arrive(second)).resolves.toEqual(begun);
    });

    it('are the next one’s at once where it becomes known what came of it', async () => {
      const { first, second, sent } = await ended();
      await first.answer(assign, sent, 'done');
      await expect(arrive(second)).resolves.toEqual(begun);
    });

    it('are over for it: where it begins again it has another one, before all that wait', async () => {
      const { first, second, turn } = await ended();
      const again = first.again();
      await again.own();
      const another = await turnOf(again);
      expect(another).not.toBe(turn);
      expect((await arrive(second)) as { inFlightMs?: number }).toMatchObject({ how: 'queued', inFlightMs: undefined });
      // It has not ended any more.
      await letPass(journal);
      await expect(arrive(second)).resolves.toMatchObject({ how: 'queued', before: 1 });
    });
  });

  it('end with the begin that had them: nothing is intended any more, and it cannot go on', async () => {
    const [first, second] = [await begin(), await begin()];
    const begun = await first.own();
    await turnOf(first);
    await first.do(assign);
    await end(first);
    await expect(first.intend(assign, { cursor: first.cursor })).resolves.toEqual({ how: 'not-owned' });
    await expect(first.own({ epoch: first.cursor!.epoch, fence: begun })).resolves.toBeUndefined();
    await arrive(second);
    const again = first.again();
    await again.own();
    await expect(again.intend(assign)).resolves.toMatchObject({ how: 'send' });
  });

  it('that are taken from a saga leave it nothing to go on with', async () => {
    const [gone, next] = [await begin(), await begin()];
    const begun = await gone.own();
    await turnOf(gone);
    const behind = await placeBefore(next);
    await expect(dropTurn(journal, behind)).resolves.toBe(0);
    await expect(gone.intend(assign, { cursor: gone.cursor })).resolves.toEqual({ how: 'not-owned' });
    await expect(gone.own({ epoch: gone.cursor!.epoch, fence: begun })).resolves.toBeUndefined();
  });
}
