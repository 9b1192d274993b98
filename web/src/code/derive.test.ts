import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { languageOfName, languageOfPath } from './derive-language';
import {
  canColour,
  deriveLines,
  deriveVisible,
  longestLine,
  MOST_LINE_CHARS,
  shownLine,
} from './derive-lines';
import { classOfColour, markSpans, mergeSpans } from './derive-spans';

describe('the language', () => {
  test.each([
    ['src/main.rs', 'rust'],
    ['a/b/Dockerfile', 'docker'],
    ['Dockerfile.dev', 'docker'],
    ['/home/me/.bashrc', 'bash'],
    ['C:\\code\\App.TSX', 'tsx'],
    ['Makefile', 'make'],
    ['notes', null],
    ['x.constructor', null],
    ['x.__proto__', null],
    ['', null],
  ])('of the file %s is %s', (path, language) => {
    expect(languageOfPath(path)).toBe(language);
  });

  test.each([
    ['ts', 'typescript'],
    ['rust,ignore', 'rust'],
    ['c++', null],
    ['C#', null],
    [' Python title="x"', 'python'],
    ['hasOwnProperty', null],
    [undefined, null],
  ])('of a fence called %s is %s', (name, language) => {
    expect(languageOfName(name)).toBe(language);
  });
});

describe('lines', () => {
  test('end at every kind of line break, and the last break begins none', () => {
    expect(deriveLines('a\nb\r\nc\rd\n')).toEqual(['a', 'b', 'c', 'd']);
    expect(deriveLines('')).toEqual(['']);
    expect(deriveLines('\n')).toEqual(['']);
    expect(deriveLines('a\n\n')).toEqual(['a', '']);
  });

  test('are coloured up to a size', () => {
    expect(canColour(['fn main() {}'])).toBe(true);
    expect(canColour(['x'.repeat(2_001)])).toBe(false);
    expect(canColour(Array(5_001).fill('x'))).toBe(false);
    expect(canColour(Array(500).fill('x'.repeat(1_500)))).toBe(false);
  });

  test('are cut when they are very long, and say so', () => {
    const shown = shownLine('x'.repeat(1_000_000));
    expect(shown.length).toBeLessThan(MOST_LINE_CHARS + 100);
    expect(shown).toContain('980,000 more characters');
  });

  test('in view are always some, and never outside the text', () => {
    fc.assert(
      fc.property(fc.double(), fc.double(), fc.integer({ min: 1, max: 100_000 }), (top, height, count) => {
        const bounded = Math.min(height, 5_000);
        const { first, end } = deriveVisible(top, bounded, 20, count);
        expect(first).toBeGreaterThanOrEqual(0);
        expect(end).toBeLessThanOrEqual(count);
        expect(end).toBeGreaterThan(first);
        expect(end - first).toBeLessThan(400);
      }),
    );
  });

  test('in view cover the view', () => {
    const { first, end } = deriveVisible(10_000, 400, 20, 100_000);
    expect(first).toBeLessThanOrEqual(500);
    expect(end).toBeGreaterThanOrEqual(520);
  });

  test('give the width of the longest', () => {
    expect(longestLine(['a', 'abc', ''])).toBe(3);
    expect(longestLine(['\ta'])).toBe(5);
  });
});

describe('spans', () => {
  test('have only classes of the theme', () => {
    expect(classOfColour('var(--shiki-token-keyword)')).toBe('tok-keyword');
    expect(classOfColour('var(--shiki-foreground)')).toBe('');
    expect(classOfColour('red; background: url(//x)')).toBe('');
    expect(classOfColour(undefined)).toBe('');
  });

  test('of one colour become one', () => {
    const span = (text: string, className: string) => ({ text, className });
    expect(mergeSpans([span('a', 'x'), span(' ', ''), span('b', 'x'), span('', 'y'), span('c', '')])).toEqual(
      [span('a b', 'x'), span('c', '')],
    );
  });

  test('are cut at the edges of marks and keep their text', () => {
    const spans = [
      { text: 'let ', className: 'tok-keyword' },
      { text: 'count = 1', className: '' },
    ];
    const marked = markSpans(spans, [
      { from: 2, to: 6 },
      { from: 12, to: 13 },
    ]);
    expect(marked.filter((span) => span.isMarked).map((span) => span.text)).toEqual(['t ', 'co', '1']);
    expect(marked.map((span) => span.text).join('')).toBe('let count = 1');
  });

  test('with any marks keep their text', () => {
    const edges = fc.uniqueArray(fc.integer({ min: 0, max: 60 }), { maxLength: 8 });
    fc.assert(
      fc.property(fc.array(fc.string()), edges, (texts, numbers) => {
        const sorted = numbers.sort((a, b) => a - b);
        const marks = sorted.flatMap((from, at) => {
          const to = sorted[at + 1];
          return at % 2 === 0 && to !== undefined ? [{ from, to }] : [];
        });
        const whole = texts.join('');
        const marked = markSpans(
          texts.map((text) => ({ text, className: '' })),
          marks,
        );
        expect(marked.map((span) => span.text).join('')).toBe(whole);
        const inMarks = marks.map(({ from, to }) => whole.slice(from, to)).join('');
        expect(marked.flatMap((span) => (span.isMarked ? [span.text] : [])).join('')).toBe(inMarks);
      }),
    );
  });
});
