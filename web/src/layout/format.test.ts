import { expect, test } from 'vitest';
import {
  formatBytes,
  formatCost,
  formatCount,
  formatDuration,
  formatElapsed,
  formatShortTime,
  formatTime,
  shortPath,
} from './format';

test('money has four digits, and no cost is never zero', () => {
  expect(formatCost(245_770)).toBe('$0.2458');
  expect(formatCost(0)).toBe('$0.0000');
  expect(formatCost(1_000_000, true)).toBe('≈ $1.0000');
  expect(formatCost(null)).toBe('–');
});

test('durations are told in the two largest units', () => {
  expect([0, 999, 4_200, 59_999, 187_000, 7_500_000, 273_600_000].map(formatDuration)).toEqual([
    '0 ms',
    '999 ms',
    '4.2 s',
    '59 s',
    '3 m 07 s',
    '2 h 05 m',
    '3 d 4 h',
  ]);
  expect(formatDuration(null)).toBe('–');
});

test('a clock that went back shows no negative time', () => {
  expect(formatElapsed(-5_000)).toBe('0 s');
  expect(formatDuration(-3)).toBe('0 ms');
});

test('large numbers are short', () => {
  expect([812, 14_200, 999_950, 3_100_000].map(formatCount)).toEqual(['812', '14.2 k', '1.0 M', '3.1 M']);
  expect([812, 14_200, 10_000_000].map(formatBytes)).toEqual(['812 B', '14.2 kB', '10.0 MB']);
});

test('a time in short has no more than tells it apart', () => {
  const now = new Date(2026, 10, 16, 12, 0);
  const short = (...at: [number, number, number, number, number]) =>
    formatShortTime(new Date(...at).toISOString(), now);
  expect(short(2026, 10, 16, 9, 5)).toMatch(/^0?9[:.]05/);
  expect(short(2026, 10, 15, 9, 5)).toMatch(/15.*0?9[:.]05/);
  expect(short(2025, 10, 15, 9, 5)).toMatch(/2025/);
  expect(short(2025, 10, 15, 9, 5)).not.toMatch(/[:.]05/);
  expect(formatShortTime('yesterday')).toBe('yesterday');
});

test('what is no time is shown as it is', () => {
  expect(formatTime('yesterday')).toBe('yesterday');
});

test('a path is known by its end', () => {
  expect(shortPath('/home/me/code/project')).toBe('…/code/project');
  expect(shortPath('/tmp')).toBe('/tmp');
});
