/** What a restored journal is told counts as anything else does; what the provider has cancelled lacks nothing. */
import { randomUUID } from 'node:crypto';
import { parseSpendLimits } from '../../../src/domain/spending';
import { restored } from '../../../src/journal/confirm-restore';
import type { Journal } from '../../../src/journal/journal';
import { openJournal } from '../../../src/journal/open';
import { openServers, writeServers } from '../../../src/journal/servers';
import { standingOf } from '../../../src/journal/standing';
import { createSealing } from '../../../src/security/sealing';
import { provisionRequest } from '../../support/requests';
import { describeEachDatabase } from './databases';
import { assign, letPass, place, Run } from './runs';

const account = 'AB-4711';
const rules = {
  planTypesMore: [],
  duplicateWithinMs: 30 * 60_000,
  spendLimits: parseSpendLimits('AB-4711=1 servers/1d'),
};
const open = (address: Parameters<typeof openJournal>[0]) => openJournal(address, createSealing(undefined));

async function taken(journal: Journal): Promise<Run> {
  const run = new Run(journal, { workflow: 'provisionServers', reference: randomUUID() });
  await run.take(
    { ...provisionRequest({ items: [{ plan_id: 17 }] }), account, label: 'x', reference: run.key.reference },
    account,
  );
  return run;
}

describeEachDatabase('what a journal is told late', ({ fresh, copy }) => {
  it.each([
    'a person confirms it',
    'a person confirms it to a run that has looked',
    'a person confirms the row that was lost',
    'its answer comes',
  ])('an order of the lost time counts once %s', async (how) => {
    const address = await fresh();
    const before = await open(address);
    const first = await taken(before);
    await before.close();
    const backup = await copy(address);
    const lost = await open(address);
    first.on(lost);
    const sent = await first.send(place(1), { rules });
    await lost.close();

    const journal = await open(backup);
    await restored(journal, 'trust', { note: 'a test' });
    await letPass(journal);
    first.on(journal);
    if (how === 'its answer comes')
      await journal.answered(
        first.key,
        { call: place(1), run: first.run, knows: sent.knows, inFlightMs: 1_000, rules },
        { outcome: 'done', answer: { how: 'answered', value: {} } },
      );
    else if (how.endsWith('lost'))
      await journal.confirm(first.key, sent.knows.row, { how: 'confirmed' }, { note: 'seen' }, rules);
    else {
      if (how.endsWith('looked')) await standingOf(journal, first.key, { inFlightMs: 1_000, rules });
      await letPass(journal);
      const meant = await first.again().mean(place(1), { rules });
      if (meant.how !== 'unknown') throw new Error(meant.how);
      await first.confirm(meant.row);
    }
    // It is known as placed.
    expect(await first.again().mean(place(1), { rules })).toMatchObject({ how: 'recorded' });
    const next = await (await taken(journal)).mean(place(2), { rules });
    await journal.close();
    expect(next.how).toBe('asks');
  });

  it.each([true, false])(
    'a server that the ending says is bare is listed as open (the journal was restored: %s)',
    async (isRestored) => {
      const journal = await open(await fresh());
      const run = new Run(journal);
      await run.take({ ...provisionRequest({ firewalls: [143] }), reference: run.key.reference });
      let row: string;
      if (isRestored) {
        await restored(journal, 'trust', { note: 'a test' });
        await letPass(journal);
        const meant = await run.again().mean({ ...place(1), about: { cartItems: [1], firewalls: [143] } });
        if (meant.how !== 'unknown') throw new Error(meant.how);
        ({ row } = meant);
      } else {
        const sent = await run.do({ ...place(1), about: { cartItems: [1], firewalls: [143] } }, 'unknown');
        ({ row } = sent.knows);
      }
      await run.confirm(row, { how: 'confirmed', vmObjectIds: [9001] });
      const leftovers = [
        {
          kind: 'server-unprotected',
          vmObjectId: 9001,
          firewalls: [143],
          why: 'the saga ended: they were not assigned',
        },
      ];
      await journal.ended(run.key, {
        run: run.run,
        by: 'provisionServers',
        outcome: 'partly',
        report: { ended: 'cancelled', report: { leftovers } },
      });
      const listed = await openServers(journal);
      await journal.close();
      expect(listed).toMatchObject([{ vmObjectId: 9001, firewalls: [143] }]);
    },
  );

  it.each(['while its saga waits for its servers', 'after its saga has ended'])(
    'an order that the provider has cancelled leaves no open server: %s',
    async (when) => {
      const journal = await open(await fresh());
      const run = new Run(journal);
      await run.take({ ...provisionRequest({ firewalls: [143] }), reference: run.key.reference });
      await run.do({ ...place(1), about: { cartItems: [1], firewalls: [143] } }, 'done', {
        answer: { how: 'answered', value: {} },
      });
      const isFirst = when.startsWith('while');
      const said = { by: 'ops', note: 'the panel says: cancelled' };
      if (isFirst) await journal.cancelled(run.key, said);
      const leftovers = isFirst ? [] : [{ kind: 'server-unprotected', firewalls: [143], why: 'the saga ended' }];
      await journal.ended(run.key, {
        run: run.run,
        by: 'provisionServers',
        outcome: isFirst ? 'reversed' : 'partly',
        report: { ended: isFirst ? 'OrderCancelled' : 'cancelled', report: { leftovers } },
      });
      if (!isFirst) await journal.cancelled(run.key, said, { isOver: true });
      // A look into the directory stood still meanwhile.
      await writeServers(journal, run.key, [9001]);
      const listed = await openServers(journal);
      await journal.close();
      expect(listed).toEqual([]);
    },
  );

  it('a server lacks what a correction asks for, also where the firewalls of before are assigned late', async () => {
    const journal = await open(await fresh());
    const run = await taken(journal);
    await run.do(place(1), 'done', { answer: { how: 'answered', value: { vmObjectIds: [9001] } } });
    const assigning = (...firewalls: number[]) => ({ ...assign, about: { vmObjectId: 9001, firewalls } });
    const before = await run.send(assigning(143));
    const corrected = await run.send(assigning(143, 144));
    await run.answer(assigning(143), before, 'done');
    expect(await openServers(journal)).toMatchObject([{ vmObjectId: 9001, firewalls: [143, 144] }]);
    await run.answer(assigning(143, 144), corrected, 'done');
    expect(await openServers(journal)).toEqual([]);
    await journal.close();
  });
});
