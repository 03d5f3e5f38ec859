/** Facts that a restored journal learns late count as any others; an order that the provider has cancelled lacks nothing. */
import { randomUUID } from 'node:crypto';
import { parseSpendLimits } from '../../../src/domain/spending';
import type { Journal } from '../../../src/journal/journal';
import { JournalUnavailable } from '../../../src/journal/database/errors';
import { claimServers, openServers } from '../../../src/journal/servers';
import { readState } from '../../../src/journal/read-state';
import { restoredAndTrusted, said } from '../../support/operator';
import { provisionRequest } from '../../support/requests';
import { describeEachDatabase } from './databases';
import { assign, letPass, openedJournals, place, Run, type Sent } from './runs';

const account = 'AB-4711';
const rules = {
  duplicateWithinMs: 30 * 60_000,
  spendLimits: parseSpendLimits('AB-4711=1 servers/1d'),
};

async function taken(journal: Journal, firewalls: number[] = []): Promise<Run> {
  const run = new Run(journal);
  const request = provisionRequest({ items: [{ plan_id: 17 }], firewalls });
  await run.take({ ...request, account, label: 'x', reference: run.key.reference }, account);
  return run;
}

/** By the provider, with no id, or with those of the servers. */
const answered = (...vmObjectIds: number[]) => ({
  answer: { how: 'answered', value: vmObjectIds.length > 0 ? { vmObjectIds } : {} },
});

const protectedOrder = { ...place(1), about: { cartItems: [1], firewalls: [143] } };

/** A clean-up has looked. */
async function rowOfLookedAt(journal: Journal, { key }: Run): Promise<string> {
  const { placement } = await readState(journal, key, { inFlightMs: 0 });
  if (placement.how !== 'unknown') throw new Error(placement.how);
  return placement.row;
}

const endWith = (run: Run, outcome: string, ended: string, leftovers: object[]) =>
  run.end(outcome, { report: { ended, report: { leftovers } } });

describeEachDatabase('what a journal is told late', ({ fresh, copy }) => {
  const opened = openedJournals();

  /** An order with a firewall, to which this has happened. */
  const ordered = async <T>(happen: (run: Run, journal: Journal) => Promise<T>) => {
    const journal = await opened(await fresh());
    const run = await taken(journal, [143]);
    return { journal, run, came: await happen(run, journal) };
  };
  /** The journal was restored, long ago. */
  const lostTime = async (_: Run, journal: Journal) => {
    await restoredAndTrusted(journal);
    await letPass(journal);
  };
  const deniedFirst = (run: Run) => run.doInVain(protectedOrder);

  /** A person looks whether the order is there, and says so when nothing is in flight any more. */
  const confirmed = async (run: Run, journal: Journal) => {
    await letPass(journal);
    await run.confirm(await run.again().asks(place(1), { rules }));
  };
  it.each<[string, (run: Run, journal: Journal, sent: Sent) => Promise<unknown>]>([
    ['a person confirms it', confirmed],
    [
      'a person confirms it to a run that has looked',
      async (run, journal) => {
        await readState(journal, run.key, { inFlightMs: 1_000, rules });
        await confirmed(run, journal);
      },
    ],
    [
      'a person confirms the row that was lost',
      (run, journal, { cursor }) =>
        journal.confirm(run.key, cursor.row, { how: 'confirmed' }, { by: 'ann', note: 'seen' }, rules),
    ],
    [
      'its answer comes',
      ({ key, run }, journal, { cursor }) => {
        const call = { call: place(1), run, cursor, inFlightMs: 1_000, rules };
        return journal.answered(key, call, { outcome: 'done', ...answered() });
      },
    ],
  ])('an order of the lost time counts once %s', async (_, happen) => {
    const address = await fresh();
    const before = await opened(address);
    const first = await taken(before);
    await before.close();
    const backup = await copy(address);
    const sent = await first.on(await opened(address)).send(place(1), { rules });

    const journal = await opened(backup);
    await restoredAndTrusted(journal);
    await letPass(journal);
    await happen(first.on(journal), journal, sent);
    // It is known as placed.
    expect(await first.again().intend(place(1), { rules })).toMatchObject({ how: 'recorded' });
    expect(await (await taken(journal)).intend(place(2), { rules })).toMatchObject({ how: 'asks' });
  });

  it.each([true, false])(
    'a server that the ending says is bare is listed as open (the journal was restored: %s)',
    async (isRestored) => {
      const { journal, run } = await ordered<unknown>(
        isRestored ? lostTime : (run) => run.do(protectedOrder, 'unknown'),
      );
      await run.confirm(await run.again().asks(protectedOrder, { rules }), { how: 'confirmed', vmObjectIds: [9001] });
      const why = 'the saga ended: they were not assigned';
      const bare = { kind: 'server-unprotected', vmObjectId: 9001, firewalls: [143], why };
      await endWith(run, 'partly', 'cancelled', [bare]);
      expect(await openServers(journal)).toMatchObject([{ vmObjectId: 9001, firewalls: [143] }]);
    },
  );

  it.each([
    ['that is gone', () => Promise.resolve(randomUUID()), { vmObjectIds: [9001] }, 9001],
    ['that is gone, and nobody knows its servers', () => Promise.resolve(randomUUID()), {}, undefined],
    ['of a doubt', rowOfLookedAt, { vmObjectIds: [9001] }, 9001],
  ])('a server is listed as open once a person has confirmed a row %s', async (_, rowOf, answer, vmObjectId) => {
    const { journal, run } = await ordered(lostTime);
    await run.confirm(await rowOf(journal, run), { how: 'confirmed', ...answer });
    const open = await openServers(journal);
    expect(open.map((one) => [one.vmObjectId, one.firewalls])).toEqual([[vmObjectId, [143]]]);
  });

  it('a word that comes while the request cannot be read is not taken by half: it comes again', async () => {
    const { journal, run } = await ordered(lostTime);
    const row = await rowOfLookedAt(journal, run);
    jest.spyOn(journal, 'correctedRequest').mockRejectedValueOnce(new JournalUnavailable('it is away'));
    const confirm = () => run.confirm(row, { how: 'confirmed', vmObjectIds: [9001] });
    await expect(confirm()).rejects.toThrow(JournalUnavailable);
    await confirm();
    expect(await openServers(journal)).toMatchObject([{ vmObjectId: 9001, firewalls: [143] }]);
  });

  it.each<[string, (run: Run, journal: Journal) => Promise<unknown>]>([
    [
      'while its saga waits for its servers',
      async (run, journal) => {
        await journal.cancelled(run.key, said);
        await endWith(run, 'reversed', 'OrderCancelled', []);
      },
    ],
    [
      'after its saga has ended',
      async (run, journal) => {
        const bare = { kind: 'server-unprotected', firewalls: [143], why: 'the saga ended' };
        await endWith(run, 'partly', 'cancelled', [bare]);
        await journal.cancelled(run.key, said, { isOver: true });
      },
    ],
  ])('an order that the provider has cancelled leaves no open server: %s', async (_, cancelled) => {
    const { journal, run } = await ordered((run) => run.do(protectedOrder, 'done', answered()));
    await cancelled(run, journal);
    // A look into the directory stood still meanwhile.
    await claimServers(journal, run.key, [9001]);
    expect(await openServers(journal)).toEqual([]);
  });

  it.each(['provisionServers', 'cleanCart'] as const)(
    'a server that an ending of %s names twice lacks all of it',
    async (by) => {
      const { journal, run } = await ordered((run) => run.do(protectedOrder, 'done', answered(9001)));
      const bare = (id: number) => ({ kind: 'server-unprotected', vmObjectId: 9001, firewalls: [id], why: 'it ended' });
      await run.end('partly', { by, report: { report: { leftovers: [bare(144), bare(143)] } } });
      expect(await openServers(journal)).toMatchObject([{ vmObjectId: 9001, firewalls: [144, 143] }]);
    },
  );

  it('a server lacks what a correction asks for, also where the firewalls of before are assigned late', async () => {
    const journal = await opened(await fresh());
    const run = await taken(journal);
    await run.do(place(1), 'done', answered(9001));
    const assigning = (...firewalls: number[]) => ({ ...assign, about: { vmObjectId: 9001, firewalls } });
    const before = await run.send(assigning(143));
    const corrected = await run.send(assigning(143, 144));
    await run.answer(assigning(143), before, 'done');
    expect(await openServers(journal)).toMatchObject([{ vmObjectId: 9001, firewalls: [143, 144] }]);
    await run.answer(assigning(143, 144), corrected, 'done');
    expect(await openServers(journal)).toEqual([]);
  });

  it.each<[string, <T>(hear: T, end: T) => T[]]>([
    ['before its saga has ended', (hear, end) => [hear, end]],
    ['after it', (hear, end) => [end, hear]],
  ])('the servers of an order that was denied, and answered %s, are open', async (_, inOrder) => {
    const { journal, run, came: denied } = await ordered(deniedFirst);
    await run.do(protectedOrder, 'done', answered(9002));
    await run.do({ ...assign, about: { vmObjectId: 9002, firewalls: [143] } });
    const hear = (): Promise<unknown> => run.answer(protectedOrder, denied, 'done', answered(9001));
    const end = () => run.end('done', { report: { report: { leftovers: [], known: { vmObjectIds: [9002] } } } });
    for (const next of inOrder(hear, end)) await next();
    expect(await openServers(journal)).toMatchObject([{ vmObjectId: 9001, firewalls: [143] }]);
  });

  it('the servers of an order whose ids nobody knows stay open where those of another one are told late', async () => {
    const { journal, run, came: denied } = await ordered(deniedFirst);
    await run.do(protectedOrder, 'done', answered());
    await run.answer(protectedOrder, denied, 'done', answered(9001));
    const open = await openServers(journal);
    expect(open.map(({ vmObjectId }) => vmObjectId)).toEqual([undefined, 9001]);
  });
});
