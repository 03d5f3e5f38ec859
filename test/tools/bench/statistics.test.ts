import { median, percentile, ratioOfRounds } from '../../../bench/statistics';

it('takes the nearest rank for a percentile, whatever the order', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect(percentile(hundred, 0.5)).toBe(50);
  expect(percentile(hundred, 0.99)).toBe(99);
  expect(percentile([7], 0.99)).toBe(7);
  expect(percentile([1, 2, 3], 0)).toBe(1);
});

it('sorts by size, not as text', () => {
  expect(median([10, 9, 100])).toBe(10);
});

it('takes the mean of the two in the middle', () => {
  expect(median([4, 1, 3, 2])).toBe(2.5);
});

it('compares within each round: a round in which everything was slow does not count against either', () => {
  const [fast, slow] = [
    [100, 10, 100],
    [50, 5, 40],
  ] as const;
  expect(ratioOfRounds(fast, slow)).toBe(2);
});

it('compares nothing with what did not run', () => {
  expect(() => ratioOfRounds([1, 2], [1])).toThrow('every round');
  expect(() => median([])).toThrow('no median');
});
