import { expect, test } from 'vitest';
import { loadPatiently } from './lazy-part';

test('what cannot be loaded is tried again, less and less often', async () => {
  const pauses: number[] = [];
  let tries = 0;
  const load = async () => {
    tries += 1;
    if (tries < 8) throw new TypeError('Failed to fetch');
    return 'part';
  };
  expect(await loadPatiently(load, async (ms) => void pauses.push(ms))).toBe('part');
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
});
