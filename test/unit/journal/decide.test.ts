/** A first call is written without a look, where nothing of its step is there: the rules say the same of what is there. */
import { beginOf } from '../../../src/journal/acquire';
import { decide, type Seen } from '../../../src/journal/decide';
import type { Effect } from '../../../src/journal/rows';

const kinds = ['mutate', 'compensate', 'pivot'] as const;
const outcomes = [null, 'done', 'not-done', 'unknown', 'undone', 'denied'] as const;
const of = <T>(list: readonly T[], random: () => number): T => list[Math.floor(random() * list.length)]!;

/** Repeats itself. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
}

it('a first call of the owner is written where its step has no row, and nothing undoes at its server', () => {
  const random = numbers(7);
  let met = 0;
  for (let round = 0; round < 20_000; round += 1) {
    const rows = Array.from({ length: Math.floor(random() * 5) }, (_, seq) => {
      const kind = of(kinds, random);
      const vmObjectId = of([undefined, 7, 8], random);
      return {
        ...{ seq, id: `e${seq}`, kind, step: kind === 'pivot' ? 'place' : of(['a', 'b', 'c'], random) },
        ...{ outcome: of(outcomes, random), cart_item_id: of([null, 7, 8], random), vm_object_id: vmObjectId ?? null },
        ...{
          about: JSON.stringify({ vmObjectId }),
          activity: of(['assign', 'unassign'], random),
          epoch: of([1, 2], random),
        },
        ...{
          intended_ms: 0,
          in_flight_ms: of([0, 1_000], random),
          failure: null,
          decided_ms: null,
          cancelled_ms: null,
        },
      } as unknown as Effect;
    });
    const about = { vmObjectId: of([undefined, 7, 8], random) } as { vmObjectId?: number };
    const call = { step: of(['a', 'b', 'c'], random), kind: 'mutate' as const, activity: 'assign', about };
    const intent = {
      ...{ workflow: 'setFirewalls' as const, reference: 'r', call, run: 'run', inFlightMs: 1 },
      ...{ cursor: { journal: 'j', epoch: 2, fence: 3 }, recall: random() < 0.5, countsByHand: random() < 0.5 },
    };
    const seen: Seen = {
      journal: { epoch: 2, raised_ms: of([0, 500], random), now: 600 },
      taken: { owner: beginOf('run', 3), epoch: of([1, 2], random), first_run: 'run' },
      ...{
        rows,
        corrections: random() < 0.5 ? [] : [{}],
        others: new Map([[7, { of: 'x', at: '' }]]),
        turn: undefined,
      },
    };
    // As the statement of the first call asks.
    const stands = rows.some(
      (row) =>
        row.step === call.step ||
        (row.kind === 'compensate' && about.vmObjectId !== undefined && row.vm_object_id === about.vmObjectId),
    );
    if (stands) continue;
    met += 1;
    expect(decide(seen, intent)).toEqual({ how: 'write', isFirst: true, doubts: 0, repeats: undefined });
  }
  expect(met).toBeGreaterThan(2_000);
});
