import { expect, test } from 'vitest';
import { repairPath } from './repair-address';

test('a path can be decoded whatever was typed', () => {
  for (const path of [
    '/runs/%',
    '/runs/%E0%A4%A',
    '/runs/%zz',
    '/%/%41',
    '/runs/a%20b',
    '/runs/20261116-000000-000000',
    '/',
  ]) {
    expect(() => decodeURIComponent(repairPath(path))).not.toThrow();
  }
  expect(repairPath('/runs/%')).toBe('/runs/%25');
  expect(repairPath('/runs/a%20b/é')).toBe('/runs/a%20b/é');
});
