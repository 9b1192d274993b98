import { expect, test } from 'vitest';
import { keyOf } from './derive-key';

const key = (change: object = {}) => ({
  key: 'Enter',
  shiftKey: false,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  isComposing: false,
  ...change,
});

test('Enter sends now, with Control or Command after the turn', () => {
  expect(keyOf(key(), false)).toBe('steer');
  expect(keyOf(key({ ctrlKey: true }), false)).toBe('queue');
  expect(keyOf(key({ metaKey: true }), false)).toBe('queue');
});

test('a new line, a letter and what is still being composed send nothing', () => {
  expect(keyOf(key({ shiftKey: true }), false)).toBeNull();
  expect(keyOf(key({ key: 'a', ctrlKey: true }), false)).toBeNull();
  expect(keyOf(key({ isComposing: true }), false)).toBeNull();
});

test('on the keyboard of a screen Enter begins a line', () => {
  expect(keyOf(key(), true)).toBeNull();
});
