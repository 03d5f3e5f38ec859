import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { WorkflowName } from '../../../../src/domain/identity';
import type { Leftover } from '../../../../src/domain/outcomes';
import { repairReference } from '../../../../src/domain/reconcile';
import { endedSagas, leftByLost, type ByAge } from '../../../../src/journal/read-state';
import type { WantedFirewalls } from '../../../../src/journal/database/schema';
import { statedFirewalls } from '../../../../src/journal/views/firewalls';
import { takeTurn } from '../../../../src/journal/turns';
import { assign, dayMs, journal, letPass, place, Run, run, takeBackAssign, unassignOld, undoOld } from '../runs';

export function leftBehind(): void {
  const begin = (workflow: WorkflowName = 'provisionServers', reference?: string) =>
    Run.begin(journal, workflow, reference);
  const leftBy = async ({ key }: Run) => (await leftByLost(journal, [key])).sagas[0];

  describe('of a saga: ', () => {
    it('items in no order, and not those that were deleted or ordered', async () => {
      const [left, ordered, deleted] = [await begin(), await begin(), await begin()];
      await left.adds(1);
      await left.adds(2, 2);
      await left.removes(2, 2);
      await ordered.adds(3);
      await ordered.do(place(3));
      await ordered.adds(4, 2);
      await deleted.adds(5);
      await deleted.removes(5);
      expect(await leftBy(left)).toMatchObject({ cartItems: [1], placement: 'none' });
      expect(await leftBy(ordered)).toMatchObject({ cartItems: [4], placement: 'placed' });
      expect(await leftBy(deleted)).toMatchObject({ cartItems: [], placement: 'none' });
    });

    it('whether a clean-up has come to its end since it last added anything, and told what is left', async () => {
      const run = await begin();
      const clean = (ended: 'done' | 'cancelled', leftovers: Leftover[] = []) =>
        run.end('partly', {
          ...{ run: randomUUID(), by: 'cleanCart', keepOpen: true },
          report: { ended, report: { leftovers } },
        });
      const isCleaned = async () => (await leftBy(run))!.isCleaned;
      await run.adds(1);
      expect(await isCleaned()).toBe(false);
      await letPass(journal, 1);
      for (const ended of ['cancelled', 'done'] as const) {
        await clean(ended);
        expect(await isCleaned()).toBe(false);
      }
      await clean('done', [{ kind: 'cart-item', cartItemId: 1, why: 'it may stay' }]);
      expect(await isCleaned()).toBe(true);
      const endings = journal.db.updateTable('ending').where('reference', '=', run.key.reference);
      await endings.set({ ended_ms: 1 }).execute();
      await run.adds(2, 2);
      expect(await isCleaned()).toBe(false);
    });
  });

  describe('of those that have ended: ', () => {
    const firstSeen = async (run: Run, ms: number) => {
      const update = journal.db.updateTable('reference').where('reference', '=', run.key.reference);
      await update.set({ first_seen_ms: ms }).execute();
    };
    const found = async (days: number, limit: number) => {
      const all: string[] = [];
      let after: ByAge | undefined;
      for (;;) {
        const { sagas, hasMore } = await endedSagas(journal, { days, after, limit });
        all.push(...sagas.map(({ reference }) => reference));
        after = sagas.at(-1);
        if (!hasMore) return all;
      }
    };

    it('the youngest first, slice by slice, none twice, none of another age, none that is open', async () => {
      const runs = [await begin(), await begin('setFirewalls'), await begin(), await begin(), await begin()];
      const [open, ...ended] = runs;
      const now = Date.now();
      // Two of the same moment; one older than asked for.
      for (const [index, run] of ended.entries()) await firstSeen(run, now - [0, 0, 1_000, 5 * dayMs][index]!);
      for (const run of ended) await run.end();
      const own = new Set(runs.map(({ key }) => key.reference));
      const ofThis = async (days: number, limit: number) => (await found(days, limit)).filter((one) => own.has(one));
      const byAge = ended.map(({ key }) => key.reference);
      for (const limit of [1, 2, 50]) {
        const [first, second, ...rest] = await ofThis(30, limit);
        expect([first, second].sort()).toEqual(byAge.slice(0, 2).sort());
        expect(rest).toEqual(byAge.slice(2));
        expect(await ofThis(3, limit)).toHaveLength(3);
      }
      expect(await ofThis(30, 50)).not.toContain(open?.key.reference);
    });

    it('but none of a time when nobody wrote down where a saga is open', async () => {
      await run.adds(1);
      expect(await found(30, 50)).not.toContain(run.key.reference);
    });

    it('that the journal is an older copy', async () => {
      expect((await endedSagas(journal, { days: 1, after: undefined, limit: 1 })).restored).toBeUndefined();
      await journal.db.updateTable('journal').set({ restored_ms: 5 }).execute();
      const older = 'the journal was found to be an older copy on 1970-01-01T00:00:00.005Z';
      expect((await endedSagas(journal, { days: 1, after: undefined, limit: 1 })).restored).toBe(older);
      expect((await leftByLost(journal, [])).restored).toBe(older);
      await journal.db.updateTable('journal').set({ restored_ms: null }).execute();
    });
  });

  describe('of the firewalls of a server: ', () => {
    let server = 7_000;
    beforeEach(() => {
      server += 1;
    });
    const at = <C extends { about: object }>(call: C, ...firewalls: number[]) => ({
      ...call,
      about: { vmObjectId: server, firewalls },
    });
    const stated = () => statedFirewalls(journal, server);

    it('what sagas have said last', async () => {
      const [first, second] = [await begin(), await begin('setFirewalls')];
      await first.do(at(assign, 1, 2, 3));
      await first.end();
      await second.do(at(assign, 4));
      await second.do(at(unassignOld, 1, 9));
      await second.end();
      expect(await stated()).toEqual({ isBusy: false, assigned: [2, 3, 4], unassigned: [1, 9] });
    });

    it('nothing of what failed, of what is unknown, and not what was undone', async () => {
      const run = await begin('setFirewalls');
      await run.do(at(assign, 1, 2));
      await run.do(at(unassignOld, 5));
      await run.do(at(undoOld, 5));
      await run.do(at(takeBackAssign, 1));
      await run.do({ ...at(assign, 8), step: 'another' }, 'not-done');
      await run.do({ ...at(assign, 7), step: 'a third one' });
      await run.do({ ...at(unassignOld, 7), step: 'a fourth one' }, 'unknown');
      await run.end();
      expect(await stated()).toEqual({ isBusy: false, assigned: [2, 5], unassigned: [1] });
    });

    describe('what they asked for, where no call was needed: ', () => {
      /** All that was done until now was done earlier. */
      const later = async () => {
        await letPass(journal, 5);
        await journal.db
          .updateTable('ending')
          .set({ ended_ms: sql`ended_ms - 5` })
          .execute();
      };
      const says = async (wanted: WantedFirewalls | undefined, outcome = 'done', of?: Run) => {
        const saga = of ?? (await begin('setFirewalls'));
        await later();
        const resource = `server ${server}`;
        await saga.end(outcome, { isReset: true, resource, wanted });
        await later();
      };
      const bought = async (...firewalls: number[]) => {
        const run = await begin();
        await run.do(at(assign, ...firewalls));
        await run.end();
      };

      it('the newest one counts', async () => {
        await bought(1, 2);
        await says({ assign: [3], unassign: [1] });
        expect(await stated()).toEqual({ isBusy: false, assigned: [2, 3], unassigned: [1] });
        await says({ exactly: [1, 4] });
        expect(await stated()).toEqual({
          ...{ isBusy: false, assigned: [1, 4], unassigned: [2, 3] },
          exactlyMs: expect.any(Number) as number,
        });
        const run = await begin('setFirewalls');
        await run.do(at(unassignOld, 4));
        await run.end();
        await says({ assign: [2], unassign: [] });
        expect(await stated()).toMatchObject({ assigned: [1, 2], unassigned: [3, 4] });
      });

      it('but not one from before the last call, though the clock went back since', async () => {
        await bought(1, 2);
        await says({ exactly: [1] });
        const run = await begin('setFirewalls');
        await run.do(at(assign, 3));
        const effects = journal.db.updateTable('effect').where('vm_object_id', '=', server);
        await effects.set({ intended_ms: sql`intended_ms + 60000`, answered_ms: sql`answered_ms + 60000` }).execute();
        const endings = journal.db.updateTable('ending').where('resource', '=', `server ${server}`);
        await endings.set({ ended_ms: sql`ended_ms + 60000` }).execute();
        await says({ assign: [3], unassign: [] }, 'done', run);
        expect(await stated()).toMatchObject({ assigned: [3, 1], unassigned: [2] });
      });

      it('but no repair of a sweep, which does what was said before', async () => {
        await bought(1, 2);
        await says({ assign: [], unassign: [1] });
        const repair = await begin('setFirewalls', repairReference(new Date().toISOString(), server));
        await repair.do(at(assign, 1));
        await says({ assign: [1], unassign: [] }, 'done', repair);
        expect(await stated()).toEqual({ isBusy: false, assigned: [2], unassigned: [1] });
      });

      it('but not one whose later run has put it back, and none of another server', async () => {
        await bought(1);
        const run = await begin('setFirewalls');
        await says({ exactly: [] }, 'done', run);
        expect(await stated()).toMatchObject({ assigned: [], unassigned: [1] });
        await says(undefined, 'reversed', run.again());
        server += 1_000;
        await says({ exactly: [] });
        server -= 1_000;
        expect(await stated()).toEqual({ isBusy: false, assigned: [1], unassigned: [] });
      });
    });

    it('that a saga that has changed it, has its turn there, or is queued is open', async () => {
      const isBusy = async () => (await stated()).isBusy;
      const [changing, queued] = [await begin(), await begin('setFirewalls')];
      await changing.do(at(assign, 1));
      expect(await isBusy()).toBe(true);
      await changing.end();
      expect(await isBusy()).toBe(false);
      await takeTurn(journal, queued.key, `server ${server}`);
      expect(await isBusy()).toBe(true);
      // A person has skipped the ending: the turn stays.
      const closed = journal.db.updateTable('reference').set({ is_open: null });
      await closed.where('reference', '=', queued.key.reference).execute();
      expect(await isBusy()).toBe(false);
    });
  });
}
