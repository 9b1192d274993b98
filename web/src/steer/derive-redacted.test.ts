import { expect, test } from 'vitest';
import { redactedIn } from './derive-redacted';

test('what stands for a secret is found', () => {
  expect(redactedIn('curl -H "Bearer [redacted:bearer]" [redacted:A_KEY]')).toBe('[redacted:bearer]');
  expect(redactedIn('[redacted:]')).toBe('[redacted:]');
  for (const text of ['', 'redacted: nothing', '[redacted]', '[redacted:open']) {
    expect(redactedIn(text)).toBeNull();
  }
});
