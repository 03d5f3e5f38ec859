import type { AnsweredOutcome } from '../../../../src/domain/effects';
import type { Journal } from '../../../../src/journal/journal';
import type { TestDatabases } from '../databases';
import { add, assign, letPass, sharedJournal, place, rowOf, Run, takeBackAssign } from '../runs';

export function answers(databases: TestDatabases): void {
  let journal: Journal;
  sharedJournal(databases, (opened) => {
    journal = opened;
  });
  let run: Run;
  beforeEach(async () => {
    run = await Run.begin(journal);
  });

  const read = async (row: string) => {
    const found = await rowOf(journal, row);
    return { ...found, answer: await journal.unseal(found!.answer!, 'the answer') };
  };

  it.each(['done', 'not-done', 'unknown'] as const)('complete a row as %s, with what was said', async (outcome) => {
    const meant = await run.send(place(1));
    await expect(run.answer(place(1), meant, outcome, { failure: 'Refused', answer: { status: 1 } })).resolves.toBe(
      'written',
    );
    const row = await read(meant.knows.row);
    expect(row).toMatchObject({ outcome, failure: 'Refused', answer: { status: 1 }, late: null, decided: null });
    expect(row.answered_ms).toBeGreaterThanOrEqual(row.meant_ms!);
  });

  it('keep the id of an item that was added', async () => {
    const meant = await run.send(add());
    await run.answer(add(), meant, 'done', { cartItemId: 7 });
    expect(await rowOf(journal, meant.knows.row)).toMatchObject({ cart_item_id: 7 });
  });

  it.each(['done', 'not-done'] as const)('may turn unknown into %s', async (outcome) => {
    const meant = await run.do(place(1), 'unknown', { failure: 'UnknownOutcome' });
    await expect(run.answer(place(1), meant, outcome, { answer: 2 })).resolves.toBe('written');
    expect(await read(meant.knows.row)).toMatchObject({ outcome, answer: 2, failure: null });
  });

  it.each(['done', 'not-done', 'unknown'] as const)('change nothing when %s is written twice', async (outcome) => {
    const meant = await run.do(place(1), outcome, { answer: 1 });
    const before = await rowOf(journal, meant.knows.row);
    await letPass(journal, 0);
    await expect(run.answer(place(1), meant, outcome, { answer: 2 })).resolves.toBe('written');
    expect(await rowOf(journal, meant.knows.row)).toEqual(before);
  });

  const settled: [AnsweredOutcome, AnsweredOutcome][] = [
    ['done', 'not-done'],
    ['done', 'unknown'],
    ['not-done', 'unknown'],
  ];
  it.each(settled)('let %s stay when %s is written later', async (first, second) => {
    const meant = await run.do(place(1), first, { answer: 1 });
    const before = await rowOf(journal, meant.knows.row);
    await expect(run.answer(place(1), meant, second, { answer: 2 })).resolves.toBe('written');
    expect(await rowOf(journal, meant.knows.row)).toEqual(before);
  });

  it('count when they come late, beside the denial: it is not sent again', async () => {
    const meant = await run.do(place(1), 'unknown');
    await letPass(journal);
    await run.deny(meant.knows.row);
    const before = await rowOf(journal, meant.knows.row);
    for (const outcome of ['not-done', 'unknown'] as const) {
      await expect(run.answer(place(1), meant, outcome)).resolves.toBe('written');
    }
    expect(await rowOf(journal, meant.knows.row)).toEqual(before);

    await expect(run.answer(place(1), meant, 'done', { answer: { order: 5 } })).resolves.toBe('late');
    const row = await rowOf(journal, meant.knows.row);
    const { late, decided, outcome } = row!;
    expect({ decided, outcome }).toEqual({ decided: before!.decided, outcome: 'done' });
    await expect(journal.unseal(late!, 'what came late')).resolves.toEqual({ order: 5 });
    expect(await run.again().mean(place(1))).toMatchObject({ how: 'recorded', answer: { order: 5 } });
  });

  it('only stand beside the denial where it was sent again meanwhile', async () => {
    const meant = await run.send(place(1));
    await letPass(journal);
    await run.deny(meant.knows.row);
    const second = await run.again().send(place(1));
    await expect(run.answer(place(1), meant, 'done')).resolves.toBe('late');
    expect(await rowOf(journal, meant.knows.row)).toMatchObject({ outcome: 'denied' });
    expect(await rowOf(journal, second.knows.row)).toMatchObject({ outcome: null });
  });

  it('are late, too, where the call was written down as surely not done', async () => {
    const meant = await run.do(place(1), 'not-done');
    await expect(run.answer(place(1), meant, 'done', { answer: 5 })).resolves.toBe('late');
    expect(await rowOf(journal, meant.knows.row)).toMatchObject({ outcome: 'done', failure: null });
  });

  it('are not late when they are written once more and the effect was taken back in between', async () => {
    const meant = await run.do(assign);
    await run.do(takeBackAssign);
    const before = await rowOf(journal, meant.knows.row);
    expect(before).toMatchObject({ outcome: 'undone' });
    await expect(run.answer(assign, meant, 'done')).resolves.toBe('written');
    expect(await rowOf(journal, meant.knows.row)).toEqual(before);
  });

  it('mark nothing as taken back unless taking it back is done', async () => {
    const meant = await run.do(assign);
    for (const outcome of ['not-done', 'unknown'] as const) await run.do(takeBackAssign, outcome);
    expect(await rowOf(journal, meant.knows.row)).toMatchObject({ outcome: 'done', undone_by: null });
  });
}
