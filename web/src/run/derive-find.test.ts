import { expect, test } from 'vitest';
import { nearestHit } from './derive-find';
import { occurrences } from './use-highlights';

test('hits go round', () => {
  expect(nearestHit([3, 9], 3, true)).toBe(9);
  expect(nearestHit([3, 9], 9, true)).toBe(3);
  expect(nearestHit([3, 9], 3, false)).toBe(9);
  expect(nearestHit([], 3, true)).toBeNull();
});

test('a text is found whatever its case, and never at a wrong place', () => {
  expect(occurrences('Foo foo', 'FOO')).toEqual([0, 4]);
  expect(occurrences('aaa', 'aa')).toEqual([0]);
  expect(occurrences('x', '')).toEqual([]);
  expect(occurrences('İİ foo', 'foo')).toEqual([]);
});
