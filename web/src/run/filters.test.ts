import { expect, test } from 'vitest';
import { deriveRows } from './derive-rows';
import { hiddenOf, toggled } from './filters';
import { flattenRows } from './flatten-rows';
import { agent, run } from './records-for-tests';
import { parseRunSearch } from './search-params';

test('what is switched twice leaves no trace in the address', () => {
  const once = toggled(hiddenOf(undefined), 'tools');
  expect(once).toEqual(['process', 'records', 'tools']);
  expect(toggled(hiddenOf(once), 'tools')).toBeUndefined();
});

test('everything can be shown', () => {
  const hide = toggled(hiddenOf(toggled(hiddenOf(undefined), 'records')), 'process');
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

test('what only frames a run is out of sight, but whoever is sent to it sees it', () => {
  const { table } = deriveRows([
    run(1, 'attempt_started', { program: 'claude', pid: 7 }),
    agent(2, 'text_block', { item: 'm', text: 'Hello' }),
    run(3, 'attempt_ended', { outcome: 'succeeded', totals: {} }),
    run(4, 'attempt_ended', { outcome: 'crashed', totals: {}, error: { code: 'crashed', message: 'x' } }),
  ]);
  const shown = (wanted?: number) =>
    flattenRows(table.top, hiddenOf(undefined), new Set(), wanted ? table.rowOf(wanted) : undefined).map(
      ({ row }) => row.seq,
    );
  expect(shown()).toEqual([2, 4]);
  expect(shown(1)).toEqual([1, 2, 4]);
});
