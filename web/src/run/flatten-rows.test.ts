import { expect, test } from 'vitest';
import { deriveRows } from './derive-rows';
import { flattenRows, indexOfSeq } from './flatten-rows';
import { agent } from './records-for-tests';
import type { Category } from './row';

const call = (seq: number, item: string, parent?: string) =>
  agent(seq, 'tool_started', { item, name: 'Task', kind: 'agent', state: 'running' }, parent);
const { table } = deriveRows([
  call(1, 'outer'),
  call(2, 'inner', 'outer'),
  agent(3, 'text_block', { item: 'found', text: 'x' }, 'inner'),
  agent(4, 'text_block', { item: 'beside', text: 'y' }, 'inner'),
  agent(5, 'thinking_block', { item: 'after', text: 'z' }),
]);
const none: ReadonlySet<never> = new Set();
const seqs = (hidden: Category[], folded: string[], wanted?: number) =>
  flattenRows(
    table.top,
    new Set(hidden),
    new Set(folded),
    wanted === undefined ? undefined : table.rowOf(wanted),
  ).map(({ row, depth }) => [row.seq, depth]);

test('steps of a subagent stand under its call, unless they are folded or hidden', () => {
  expect(seqs([], [])).toEqual([
    [1, 0],
    [2, 1],
    [3, 2],
    [4, 2],
    [5, 0],
  ]);
  expect(seqs([], ['tool:1/1/outer'])).toEqual([
    [1, 0],
    [5, 0],
  ]);
  expect(seqs(['tools'], [])).toEqual([[5, 0]]);
});

test('who is sent to a step sees it and what it stands under, and nothing else that is folded or hidden', () => {
  const shown = [
    [1, 0],
    [2, 1],
    [3, 2],
    [5, 0],
  ];
  expect(seqs([], ['tool:1/1/inner'], 3)).toEqual(shown);
  expect(seqs([], ['tool:1/1/outer', 'tool:1/1/inner'], 3)).toEqual(shown);
  expect(seqs(['tools', 'text'], [], 3)).toEqual(shown);
});

test('a record that no row shows is looked for at the next one', () => {
  const flat = flattenRows(table.top, new Set<Category>(['text']), none);
  expect(indexOfSeq(flat, table.rowOf(3), 3)).toBe(2);
  expect(indexOfSeq(flat, undefined, 99)).toBe(2);
});
