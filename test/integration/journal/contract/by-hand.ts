import type { EffectCall } from '../../../../src/domain/effects';
import { writeByHand } from '../../../../src/journal/by-hand';
import { effectsOf } from '../../../../src/journal/rows';
import { standingOf } from '../../../../src/journal/standing';
import { takeTurn } from '../../../../src/journal/turns';
import { assign, inFlightMs, journal, rowOf, Run, run, takeBackAssign, unassignOld } from '../runs';

export function byHand(): void {
  const verdict = { by: 'ada', note: 'in the panel' };
  const say = async (calls: EffectCall[], who = run) => {
    const written = await writeByHand(journal, who.key, { calls, run: who.run, verdict, knows: who.knows });
    if (written.how !== 'written') throw new Error(written.why);
    who.knows = written.knows;
    return written.knows;
  };
  const counting = { countsByHand: true };

  it('is a row of its own, with who said so, and nobody can be sending it', async () => {
    await run.do(assign, 'unknown');
    const { row } = await say([assign]);
    const rows = await effectsOf(journal.db, run.key);
    expect(rows.map(({ outcome }) => outcome)).toEqual(['unknown', 'done']);
    const written = await rowOf(journal, row!);
    expect(written).toMatchObject({
      ...rest(assign),
      run: run.run,
      outcome: 'done',
      answered_ms: null,
      in_flight_ms: 0,
    });
    expect(JSON.parse(written!.about)).toEqual(assign.about);
    expect(Math.abs(written!.decided_ms! - Date.now())).toBeLessThan(60_000);
    await expect(journal.unseal(written!.decided!, 'it')).resolves.toEqual(verdict);
  });

  it('is written once for a run, however often it is said', async () => {
    const first = await say([assign, unassignOld]);
    expect(await say([assign, unassignOld])).toEqual(first);
    expect(await effectsOf(journal.db, run.key)).toHaveLength(2);
  });

  it('is written once for a run, also where a call that stood still says it after it was taken back', async () => {
    const begun = await run.own();
    const stoodStill = { ...run.knows! };
    await run.own({ epoch: run.knows!.epoch, begun });
    await say([assign]);
    await run.do(takeBackAssign);
    run.knows = stoodStill;
    await say([assign]);
    const rows = await effectsOf(journal.db, run.key);
    expect(rows.map(({ outcome }) => outcome)).toEqual(['undone', 'done']);
  });

  it('counts as assigned for whoever asks how the saga stands', async () => {
    await say([assign]);
    const { assigned } = await standingOf(journal, run.key, { inFlightMs });
    expect(assigned).toEqual([assign.about]);
  });

  it('is given again to a later run that lets it count, and only to that', async () => {
    await say([assign]);
    expect(await run.again().mean(assign, counting)).toMatchObject({ how: 'recorded', answer: null, run: run.run });
    expect(await run.again().mean(assign)).toMatchObject({ how: 'send' });
  });

  it.each<[string, () => Promise<unknown>]>([
    ['a further call of the step', () => run.do(assign, 'not-done')],
    ['taking it back', () => run.do(takeBackAssign)],
  ])('counts no more after %s', async (_what, happen) => {
    await say([assign]);
    await happen();
    expect(await run.again().mean(assign, counting)).toMatchObject({ how: 'send' });
  });

  it('counts for no other firewalls, and not for what the provider answered', async () => {
    await say([assign]);
    const other = { ...assign, about: { ...assign.about, firewalls: [151] } };
    expect(await run.again().mean(other, counting)).toMatchObject({ how: 'send' });
    await run.do(unassignOld);
    expect(await run.again().mean(unassignOld, counting)).toMatchObject({ how: 'send' });
  });

  it('counts in the turn in which it was said, and in no later one', async () => {
    const one = await Run.begin(journal, 'setFirewalls');
    const resource = `server of ${one.key.reference}`;
    const begin = async () => {
      const taken = await takeTurn(journal, one.key, resource);
      if (taken.how !== 'begun') throw new Error(taken.how);
      return taken.turn;
    };
    const turn = await begin();
    await say([assign], one);
    expect(await one.again().mean(assign, { ...counting, turn })).toMatchObject({ how: 'recorded' });
    await one.end('done', { resource });
    await one.again().own();
    const next = await begin();
    await laterBegun(next);
    expect(await one.again().mean(assign, { ...counting, turn: next })).toMatchObject({ how: 'send' });
  });

  /** No two of them in one millisecond. */
  const laterBegun = (id: string) =>
    journal.db
      .updateTable('turn')
      .set((set) => ({ begun_ms: set('begun_ms', '+', 1) }))
      .where('id', '=', id)
      .execute();
}

const rest = ({ step, kind, activity }: EffectCall) => ({ step, kind, activity });
