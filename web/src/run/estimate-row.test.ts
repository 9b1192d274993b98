import { expect, test } from 'vitest';
import { deriveRows } from './derive-rows';
import { estimateRow, linesOf } from './estimate-row';
import { agent } from './records-for-tests';

const heightOf = (type: string, data: object) => {
  const row = deriveRows([agent(1, type, data)]).table.top[0];
  return row ? estimateRow(row) : 0;
};

test('lines are counted as they wrap, and not for ever', () => {
  expect(linesOf('', 10, 5)).toBe(1);
  expect(linesOf('a\nb', 10, 5)).toBe(2);
  expect(linesOf('x'.repeat(25), 10, 5)).toBe(3);
  expect(linesOf('x\n'.repeat(1_000_000), 10, 5)).toBe(5);
});

test('a longer text is higher, up to a bound', () => {
  const text = (words: string) => heightOf('text_block', { item: 'm', text: words });
  expect(text('word')).toBeLessThan(text('word '.repeat(100)));
  expect(text('word '.repeat(100_000))).toBeLessThan(3_000);
  expect(text('\n\n'.repeat(500))).toBeGreaterThan(0);
});

test('a call with an output is higher than one without', () => {
  const call = (data: object) =>
    heightOf('tool_finished', { item: 't', name: 'x', status: 'completed', ...data });
  const started = (kind: string) =>
    heightOf('tool_started', { item: 't', name: 'x', kind, state: 'running' });
  expect(call({ output: '' })).toBe(started('read'));
  expect(started('execute')).toBeGreaterThan(started('read'));
});
