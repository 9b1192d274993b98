import { expect, test } from 'vitest';
import { deriveRows } from '../derive-rows';
import { agent } from '../records-for-tests';
import { isSameRow } from './same-row';

const records = [
  agent(1, 'text_block', { item: 'm', text: 'x' }),
  agent(2, 'tool_started', { item: 't', name: 'Bash', kind: 'execute', state: 'running', input: { a: [1] } }),
  agent(3, 'notice', { severity: 'info', code: 'c', message: 'm', data: { deep: { deeper: 1 } } }),
];

test('rows that were made anew of the same records are the same', () => {
  const one = deriveRows(records).table.top;
  const other = deriveRows(records).table.top;
  expect(one.map((row, index) => isSameRow(row, other[index] as never))).toEqual([true, true, true]);
});

test('a call that has ended meanwhile is another', () => {
  const one = deriveRows(records).table.top[1];
  const more = [...records, agent(4, 'tool_finished', { item: 't', status: 'completed', output: 'x' })];
  const other = deriveRows(more).table.top[1];
  expect(one && other && isSameRow(one, other)).toBe(false);
});
