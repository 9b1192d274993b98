import { expect, test } from 'vitest';
import { loadPatiently, PartMissing } from './lazy-part';

function failing(times: number) {
  const pauses: number[] = [];
  let tries = 0;
  const load = async () => {
    tries += 1;
    if (tries <= times) throw new TypeError('Failed to fetch');
    return 'part';
  };
  return { pauses, loaded: () => loadPatiently(load, async (ms) => void pauses.push(ms)) };
}

test('what cannot be loaded is tried again', async () => {
  const { pauses, loaded } = failing(2);
  expect(await loaded()).toBe('part');
  expect(pauses).toEqual([500, 1_000]);
});

test('what can never be loaded is told', async () => {
  await expect(failing(99).loaded()).rejects.toThrow(PartMissing);
});
