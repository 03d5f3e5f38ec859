import { printed, tooSeldom, type Section } from './table';

const sections: Section[] = [
  {
    title: 'Struck',
    figures: [
      { of: 'reset-after', count: 12, required: true },
      { of: 'slow', count: 1, required: true },
    ],
  },
  { title: 'Time', figures: [{ of: 'seconds', count: 0, detail: 'in all' }] },
];

it('prints what is counted in columns', () => {
  expect(printed(sections)).toBe(
    [
      'Struck', //
      '  reset-after  12',
      '  slow          1',
      '',
      'Time',
      '  seconds       0  in all',
    ].join('\n'),
  );
});

it('names what happened too seldom, of what is required', () => {
  expect(tooSeldom(sections, 2)).toEqual(['slow: 1 times, and at least 2 are asked for']);
  expect(tooSeldom(sections, 1)).toEqual([]);
});
