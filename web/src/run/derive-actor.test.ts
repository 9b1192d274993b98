import { expect, test } from 'vitest';
import { actorName } from './derive-actor';

test('only others than the owner have a name', () => {
  for (const own of [null, undefined, '', 'server token', 'session 1f2e3d4c']) {
    expect(actorName(own)).toBeNull();
  }
  expect(actorName('token ci')).toBe('token ci');
  expect(actorName('ralph answer')).toBe('ralph answer');
});
