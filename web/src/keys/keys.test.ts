import { expect, test } from 'vitest';
import { KEYS, type KeyName, matchKey, nameOfKey } from './keys';

const all = Object.keys(KEYS) as KeyName[];

test('no key means two things', () => {
  const keys = all.flatMap((name) => [...KEYS[name].keys] as string[]);
  expect(new Set(keys).size).toBe(keys.length);
});

test('two keys can mean one thing, and only together', () => {
  expect(matchKey('g', 'r', all)).toBe('runs');
  expect(matchKey(null, 'r', all)).toBe('raw');
  expect(matchKey(null, 'g', all)).toBeNull();
});

test('only what somebody listens for is matched', () => {
  expect(matchKey(null, 'e', ['help'])).toBeNull();
});

test('a key is named with what is held down', () => {
  const event = { key: 'f', ctrlKey: true, metaKey: false, altKey: false, shiftKey: false };
  expect(nameOfKey(event)).toBe('Ctrl+f');
  expect(matchKey(null, nameOfKey(event), all)).toBe('find');
  expect(nameOfKey({ ...event, key: 'End', ctrlKey: false, shiftKey: true })).toBe('Shift+End');
  expect(nameOfKey({ ...event, key: 'G', ctrlKey: false, shiftKey: true })).toBe('G');
});
