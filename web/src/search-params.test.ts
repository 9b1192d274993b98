import { expect, test } from 'vitest';
import { parseRunSearch } from './run/search-params';
import { parseRunsSearch } from './runs/search-params';

test('what an address says wrongly is left out, and not passed on by the router', () => {
  for (const seq of ['abc', '-5', -5, 1.5, 1e300, null, undefined]) {
    expect({ seq, ...parseRunSearch({ seq }) }.seq).toBeUndefined();
  }
  expect(parseRunSearch({ seq: 7 }).seq).toBe(7);
  expect({ state: 'gone', ...parseRunsSearch({ state: 'gone' }) }.state).toBeUndefined();
  expect(parseRunsSearch({ state: 'ended' }).state).toBe('ended');
});
