import { randomUUID } from 'node:crypto';
import { add, journal, place, Run, run } from '../runs';

export function corrections(): void {
  const correct = (of: Run, correction: unknown, id = randomUUID()) =>
    journal.correct(of.key, { id, run: of.run, step: 'place-order', by: 'op', correction });
  const known = (of = run) => journal.corrections(of.key);
  const corrected = (item: number, times: number) => ({ ...add(item), about: { item, corrected: times } });

  it('are told, in order, to whoever takes the reference again, beside the request as it was', async () => {
    await correct(run, { label: 'web-2' });
    await correct(run, { label: 'web-3', password: 'ä' });
    const { first } = await run.again().take();
    expect(first).toMatchObject({ request: { label: 'web-1' } });
    expect(await known()).toEqual([{ label: 'web-2' }, { label: 'web-3', password: 'ä' }]);
  });

  it('are written once, however often', async () => {
    const id = randomUUID();
    await correct(run, { label: 'web-2' }, id);
    await correct(run, { label: 'web-2' }, id);
    expect(await known()).toEqual([{ label: 'web-2' }]);
  });

  it('are two where a restored Temporal gives the id of one to another', async () => {
    const id = randomUUID();
    await correct(run, { label: 'web-2' }, id);
    await correct(run, { label: 'web-3' }, id);
    await correct(run, { label: 'web-3' }, id);
    expect(await known()).toEqual([{ label: 'web-2' }, { label: 'web-3' }]);
  });

  it('make another item of the same step: the recorded one is not its answer', async () => {
    await run.adds(7);
    await run.do(corrected(1, 1), 'not-done');
    expect(await run.mean(add(1))).toMatchObject({ how: 'recorded', answer: { cartItemId: 7 } });
    const second = await Run.begin(journal);
    await second.do(corrected(1, 1), 'done', { answer: { cartItemId: 8 }, cartItemId: 8 });
    await second.do(add(1), 'not-done');
    expect(await second.mean(corrected(1, 1))).toMatchObject({ how: 'recorded', answer: { cartItemId: 8 } });
    await second.send(corrected(1, 2));
  });

  it('let nothing be placed by a run that does not know them all', async () => {
    await correct(run, { label: 'web-2' });
    expect(await run.mean(place(1))).toEqual({ how: 'changed', why: 'the request was corrected since' });
    await correct(run, { label: 'web-3' });
    expect(await run.mean(place(1), { corrections: 1 })).toEqual({
      how: 'changed',
      why: 'the request was corrected since',
    });
    await run.send(place(1), { corrections: 2 });
  });

  it('are known to a journal that lost them by whoever has made them', async () => {
    await run.send(place(1), { corrections: 2 });
  });

  it('are told before what was placed, to a run that does not know them all', async () => {
    await correct(run, { quantity: 1 });
    const sent = await run.send(place(1), { corrections: 1 });
    await run.answer(place(1), sent, 'done', { answer: { how: 'answered', value: 1 } });
    expect(await run.again().mean(place(1))).toEqual({ how: 'changed', why: 'the request was corrected since' });
    expect(await run.again().mean(place(1), { corrections: 1 })).toMatchObject({ how: 'recorded' });
  });

  it.each([
    ['done', 'placed'],
    ['unknown', 'placed'],
    [undefined, 'placed'],
    ['not-done', 'written'],
  ] as const)('where the outcome of the pivot is %s: %s', async (outcome, how) => {
    if (outcome === undefined) await run.send(place(1));
    else await run.do(place(1), outcome);
    expect(await correct(run, { label: 'web-2' })).toBe(how);
    expect(await known()).toEqual(how === 'written' ? [{ label: 'web-2' }] : []);
  });
}
