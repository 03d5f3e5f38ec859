/** What `npm run bench -- --quick` says, and when it says nothing. */
import { differences, missedTargets, type Kept } from '../../../bench/counts';

const saga = { events: 23, workflowTasks: 4, searchAttributeUpserts: 0, memoUpserts: 0, bytes: 4_000 };
const kept = (changes: Partial<typeof saga> = {}, bundle = 1_000): Kept => ({
  sagas: { provision: { ...saga, ...changes } },
  bundles: { plain: bundle },
});

it('says nothing where nothing moved, or only as far as time stamps and bundlers move it', () => {
  expect(differences(kept(), kept())).toEqual([]);
  expect(differences(kept(), kept({ bytes: 4_079 }, 1_029))).toEqual([]);
});

it.each([
  [kept({ events: 24 }), 'provision: events: 1 more than kept (23 → 24)'],
  [kept({ workflowTasks: 3 }), 'provision: workflow tasks: 1 fewer than kept (4 → 3)'],
  [kept({ searchAttributeUpserts: 1 }), 'provision: search-attribute upserts: 1 more than kept (0 → 1)'],
  [kept({ memoUpserts: 1 }), 'provision: memo upserts: 1 more than kept (0 → 1)'],
  [kept({ bytes: 4_081 }), 'provision: bytes of history: 81 more than kept (4000 → 4081)'],
  [kept({}, 1_031), 'workflow bundle, plain: bytes of code: 31 more than kept (1000 → 1031)'],
])('says what moved, and by how much (%#)', (counted, sentence) => {
  expect(differences(kept(), counted)).toEqual([sentence]);
});

it('says what is new and what is gone', () => {
  const renamed: Kept = { ...kept(), sagas: { provisioning: saga } };
  expect(differences(kept(), renamed)).toEqual(['provision: is gone', 'provisioning: is new']);
});

describe('targets', () => {
  const counted = (ours: Partial<typeof saga>, encrypted: Partial<typeof saga>): Kept => ({
    sagas: {
      'bare provision': saga,
      'bare provision with firewalls': saga,
      provision: saga,
      'provision with firewalls': { ...saga, ...ours },
      'provision, encrypted': { ...saga, ...encrypted },
      'provision with firewalls, encrypted': saga,
    },
    bundles: {},
  });

  it('are met up to the last event and byte', () => {
    expect(missedTargets(counted({ events: 36, bytes: 10_400 }, { bytes: 13_400 }))).toEqual([]);
  });

  it('are missed by one more', () => {
    expect(missedTargets(counted({ events: 37 }, {}))).toEqual([
      'provision with firewalls: 14 events over bare, and at most 13 is the target',
    ]);
    expect(missedTargets(counted({ bytes: 10_500 }, { bytes: 13_500 }))).toEqual([
      'provision with firewalls: 2.63 × the bytes of bare, and at most 2.6 is the target',
      'provision, encrypted: 3.38 × the bytes of bare, and at most 3.35 is the target',
    ]);
  });

  it('cannot be met by what was not counted', () => {
    expect(missedTargets({ sagas: {}, bundles: {} })).toHaveLength(4);
  });
});
