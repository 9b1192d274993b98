import { expect, test } from 'vitest';
import { deviceName } from './derive-device';

test('a user agent is named by its browser and system', () => {
  const edge = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/125.0 Safari/537.36 Edg/125.0';
  expect(deviceName(edge)).toBe('Edge on Windows');
  expect(deviceName('Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0')).toBe(
    'Firefox on Linux',
  );
  expect(deviceName('Mozilla/5.0 (iPhone; CPU iPhone OS 18_0) Version/18.0 Safari/604.1')).toBe(
    'Safari on iOS',
  );
  expect(deviceName('curl/8.0')).toBe('curl/8.0');
  expect(deviceName(null)).toBe('Unknown browser');
});
