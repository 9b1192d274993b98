import { expect, test } from 'vitest';
import { deriveSource, highestNumber, openFolds, textOfDiff } from './derive-source';
import { deriveSides } from './use-diff-spans';

const change = { path: 'a.rs', kind: 'modified', diff: '@@ -9,2 +9,2 @@\n a\n-b\n+c\n' } as const;

test('a change counts as the agent counts it, if it does', () => {
  expect(deriveSource({ change })).toMatchObject({ added: 1, removed: 1 });
  expect(deriveSource({ change: { ...change, lines: [7, 8] } })).toMatchObject({ added: 7, removed: 8 });
});

test('a change without hunks has no diff', () => {
  expect(deriveSource({ change: { path: 'a', kind: 'deleted' } })).toBeNull();
});

test('changes that were put back are none, which is known', () => {
  expect(deriveSource({ change: { ...change, diff: '' } })).toMatchObject({ rows: [], added: 0, removed: 0 });
});

test('a fold that was opened is replaced by its lines', () => {
  const text = Array.from({ length: 30 }, (_, at) => `${at}`).join('\n');
  const rows = deriveSource({ path: 'a', old: text, new: `${text}\nx` })?.rows ?? [];
  const fold = rows[0];
  expect(fold?.kind).toBe('fold');
  expect(openFolds(rows, new Set(fold ? [fold] : [])).length).toBe(31);
  expect(openFolds(rows, new Set())).toBe(rows);
});

test('the highest number and the text to copy follow from the rows', () => {
  const diff = deriveSource({ change });
  expect(diff && highestNumber(diff.rows)).toBe(10);
  expect(diff && textOfDiff(diff)).toBe(' a\n-b\n+c');
});

test('each line has its place in its side', () => {
  const rows = deriveSource({ change })?.rows ?? [];
  const { old, now, place } = deriveSides(rows);
  expect([old, now]).toEqual([
    ['a', 'b'],
    ['a', 'c'],
  ]);
  expect(rows.flatMap((row) => (row.kind === 'fold' || row.kind === 'note' ? [] : [place.get(row)]))).toEqual(
    [0, 1, 1],
  );
});
