import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type DiffRow, diffOfTexts, foldContext } from './derive-diff';
import { diffOfHunks } from './derive-hunks';
import { deriveIntraline } from './derive-intraline';
import { deriveSplit } from './derive-split';

const short = (rows: readonly DiffRow[]) =>
  rows.map((row) => {
    if (row.kind === 'fold') return `… ${row.count}`;
    if (row.kind === 'note') return `! ${row.text}`;
    if (row.kind === 'removed') return `${row.old} - ${row.text}`;
    if (row.kind === 'added') return `${row.new} + ${row.text}`;
    return `${row.old} ${row.new}   ${row.text}`;
  });

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => `line ${from + at}`).join('\n');

describe('two texts', () => {
  test('give rows with the numbers of both', () => {
    const diff = diffOfTexts('a\nb\nc', 'a\nB\nc\nd');
    expect(short(diff.rows)).toEqual(['1 1   a', '2 - b', '2 + B', '3 3   c', '4 + d']);
    expect([diff.added, diff.removed]).toEqual([2, 1]);
  });

  test('have no numbers where the place is not known', () => {
    expect(short(diffOfTexts('a', 'b', false).rows)).toEqual(['null - a', 'null + b']);
  });

  test('of which one is empty are all new or all gone', () => {
    expect(short(diffOfTexts('', 'a\nb\n').rows)).toEqual(['1 + a', '2 + b']);
    expect(short(diffOfTexts('a\n', '').rows)).toEqual(['1 - a']);
    expect(diffOfTexts('', '').rows).toEqual([]);
  });

  test('keep what is the same for long out of the way', () => {
    const before = numbered(1, 40);
    const rows = short(diffOfTexts(before, before.replace('line 20\n', 'other\n')).rows);
    expect(rows[0]).toBe('… 16');
    expect(rows.slice(1, 4)).toEqual(['17 17   line 17', '18 18   line 18', '19 19   line 19']);
    expect(rows.at(-1)).toBe('… 17');
  });

  test('that have nothing in common are not compared for ever', () => {
    const before = Array.from({ length: 20_000 }, (_, at) => `old ${at}`).join('\n');
    const after = Array.from({ length: 20_000 }, (_, at) => `new ${at}`).join('\n');
    const started = performance.now();
    const diff = diffOfTexts(before, after);
    expect(performance.now() - started).toBeLessThan(3_000);
    expect([diff.added, diff.removed]).toEqual([20_000, 20_000]);
  });

  test('can be made again from the rows, whatever they are', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c', '', 'd e'), { maxLength: 40 });
    fc.assert(
      fc.property(text, text, (old, now) => {
        const rows = diffOfTexts(old.join('\n'), now.join('\n')).rows;
        const lines = rows.flatMap((row) => (row.kind === 'fold' ? row.lines : [row]));
        const side = (other: string) =>
          lines.flatMap((row) => (row.kind === other || row.kind === 'note' ? [] : [row.text]));
        const expected = (texts: string[]) => texts.join('\n').replace(/\n$/, '');
        expect(side('added').join('\n')).toBe(expected(old));
        expect(side('removed').join('\n')).toBe(expected(now));
      }),
    );
  });
});

describe('folding', () => {
  test('never hides a single line behind a row', () => {
    const lines = Array.from(
      { length: 7 },
      (_, at) => ({ kind: 'context', old: at, new: at, text: '' }) as const,
    );
    const changed = { kind: 'added', new: 1, text: '', marks: [] } as const;
    const rows = foldContext([{ ...changed, marks: [] }, ...lines, { ...changed, marks: [] }]);
    expect(rows.some((row) => row.kind === 'fold')).toBe(false);
  });
});

describe('hunks', () => {
  test('are read with their numbers and the gaps between them', () => {
    const rows = diffOfHunks('@@ -10,2 +10,3 @@\n a\n+b\n c\n@@ -20 +21 @@ fn x\n-old\n+new\n').rows;
    expect(short(rows)).toEqual(['… 9', '10 10   a', '11 + b', '11 12   c', '… 8', '20 - old', '21 + new']);
  });

  test('of a new file begin at line 1', () => {
    expect(short(diffOfHunks('@@ -0,0 +1,2 @@\n+a\n+b\n').rows)).toEqual(['1 + a', '2 + b']);
  });

  test('whose lines look like headers keep them', () => {
    const rows = diffOfHunks(
      '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a comment\n+++ b comment\n @@ -1 +1 @@\n',
    ).rows;
    expect(short(rows)).toEqual(['1 - -- a comment', '1 + ++ b comment', '2 2   @@ -1 +1 @@']);
  });

  test('that say that the newline is missing keep that as a note', () => {
    expect(short(diffOfHunks('@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n').rows)).toEqual([
      '1 - a',
      '1 + b',
      '! No newline at end of file',
    ]);
  });

  test('with wrong counts are read all the same', () => {
    const rows = diffOfHunks('@@ -1,9 +1,9 @@\n a\n@@ -20 +20 @@\n-b\n+c\n').rows;
    expect(short(rows)).toEqual(['1 1   a', '… 18', '20 - b', '20 + c']);
  });

  test('of any text never throw and lose no line of it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('+a', '-b', ' c', 'x', '', '@@ -1,2 +3 @@', '@@ nonsense', '\\ no')),
        (lines) => {
          expect(() => diffOfHunks(lines.join('\n'))).not.toThrow();
          const rows = diffOfHunks(lines.join('\n')).rows;
          expect(rows.filter((row) => row.kind === 'added').length).toBe(
            lines.filter((line) => line === '+a').length,
          );
        },
      ),
    );
  });
});

describe('inside a line', () => {
  test('only the words that differ are marked', () => {
    const before = 'let count = read(file);';
    const after = 'let total = read(file);';
    const marks = deriveIntraline(before, after);
    expect(marks.old.map(({ from, to }) => before.slice(from, to))).toEqual(['count']);
    expect(marks.new.map(({ from, to }) => after.slice(from, to))).toEqual(['total']);
  });

  test('nothing is marked where little is shared, or the line is long', () => {
    expect(deriveIntraline('apples and pears', 'if (x) return')).toEqual({ old: [], new: [] });
    expect(deriveIntraline(`${'x '.repeat(400)}a`, `${'x '.repeat(400)}b`)).toEqual({ old: [], new: [] });
  });

  test('marks are set on lines that stand against each other', () => {
    const { rows } = diffOfTexts('const a = first(1);\n', 'const a = second(1);\n');
    expect(rows.map((row) => ('marks' in row ? row.marks.length : 0))).toEqual([1, 1]);
  });
});

describe('side by side', () => {
  test('replaced lines stand against each other, and the rest against nothing', () => {
    const split = deriveSplit(diffOfTexts('a\nb\nc', 'a\nX\nY\nZ\nc').rows);
    const pairs = split.map((row) => (row.kind === 'pair' ? [row.left?.text, row.right?.text] : row.kind));
    expect(pairs).toEqual([
      ['a', 'a'],
      ['b', 'X'],
      [undefined, 'Y'],
      [undefined, 'Z'],
      ['c', 'c'],
    ]);
  });
});
