import { expect, test } from 'vitest';
import { hiddenOf, toggled } from './filters';
import { parseRunSearch } from './search-params';

test('what is switched twice leaves no trace in the address', () => {
  const once = toggled(hiddenOf(undefined), 'tools');
  expect(once).toEqual(['records', 'tools']);
  expect(toggled(hiddenOf(once), 'tools')).toBeUndefined();
});

test('everything can be shown', () => {
  const hide = toggled(hiddenOf(undefined), 'records');
  expect(hiddenOf(hide).size).toBe(0);
  expect(parseRunSearch({ hide }).hide).toEqual(hide);
});

test('an address with nonsense is a run as at first', () => {
  expect(parseRunSearch({ seq: -1, hide: [3, 'A B'], view: 'x', find: '' })).toEqual({ find: '' });
  expect([...hiddenOf(['nonsense', 'text'])]).toEqual(['text']);
});

test('a number can be looked for', () => {
  expect(parseRunSearch({ find: 42 }).find).toBe('42');
});
