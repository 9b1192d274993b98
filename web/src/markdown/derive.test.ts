import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BlockSplitter, hasDefinitions, splitBlocks } from './derive-blocks';
import { affordable, deepest, estimateCost, MOST_BLOCK_COST } from './derive-cost';
import { deriveLink } from './derive-link';

const texts = (text: string) =>
  splitBlocks(text).map((block) => (block.code ? ['code', block.text] : block.text));

describe('blocks', () => {
  test('end at blank lines', () => {
    expect(texts('one\nmore\n\ntwo\n\n\nthree')).toEqual(['one\nmore\n', 'two\n', 'three']);
  });

  test('of code keep their blank lines and need no fence at the end', () => {
    expect(texts('a\n```rust\nfn a() {}\n\nfn b() {}\n```\nb')).toEqual([
      'a\n',
      ['code', 'fn a() {}\n\nfn b() {}\n'],
      'b',
    ]);
    expect(texts('```\nopen\n\nstill')).toEqual([['code', 'open\n\nstill']]);
    expect(texts('```')).toEqual([['code', '']]);
  });

  test('of code end at a fence as long as theirs', () => {
    expect(texts('````\n```\ninside\n```\n````\nafter')).toEqual([['code', '```\ninside\n```\n'], 'after']);
    expect(texts('~~~\n```\n~~~\nafter')).toEqual([['code', '```\n'], 'after']);
  });

  test('that are lists keep their items and what belongs to them', () => {
    expect(texts('- a\n\n- b\n\n  more of b\n\nafter')).toEqual(['- a\n\n- b\n\n  more of b\n', 'after']);
    expect(texts('1. a\n   ```\n   x\n\n   y\n   ```\n2. b')).toEqual([
      '1. a\n   ```\n   x\n\n   y\n   ```\n2. b',
    ]);
  });

  test('know their language', () => {
    expect(splitBlocks('```ts title="x"\n1\n```')[0]?.code?.language).toBe('ts title="x"');
  });

  const line = fc.constantFrom(
    '',
    'text',
    '- a',
    '-',
    '1. b',
    '  in',
    '```',
    '```js',
    '~~~',
    '> q',
    '| a |',
    '# h',
    '    code',
  );
  const text = fc.array(line, { maxLength: 25 }).map((lines) => lines.join('\n'));

  test('of a text that grows are those of the whole', () => {
    fc.assert(
      fc.property(text, fc.array(fc.nat(200), { maxLength: 10 }), (whole, cuts) => {
        const splitter = new BlockSplitter();
        for (const cut of cuts.sort((a, b) => a - b)) splitter.split(whole.slice(0, cut));
        expect(splitter.split(whole)).toEqual(splitBlocks(whole));
      }),
      { numRuns: 500 },
    );
  });

  test('lose no word', () => {
    const words = (value: string) => value.replace(/[`~]{3,}(js)?|\s+/g, '');
    fc.assert(
      fc.property(text, (whole) => {
        expect(
          words(
            splitBlocks(whole)
              .map((block) => block.text)
              .join('\n'),
          ),
        ).toBe(words(whole));
      }),
    );
  });

  test('that are complete stay the same objects while the text grows', () => {
    const splitter = new BlockSplitter();
    const before = splitter.split('one\n\ntwo\n\nthree\n\nfour');
    const after = splitter.split('one\n\ntwo\n\nthree\n\nfour and more');
    expect(after[0]).toBe(before[0]);
    expect(after[2]).toBe(before[2]);
    expect(after[3]).not.toBe(before[3]);
  });

  test('of a text that was replaced are all new', () => {
    const splitter = new BlockSplitter();
    splitter.split('one\n\ntwo\n\nthree');
    expect(splitter.split('other\n\ntext')).toEqual(splitBlocks('other\n\ntext'));
  });

  test('a thousand pieces of a long text cost little', () => {
    const splitter = new BlockSplitter();
    const part = `A sentence of some words, and a further one.\n\n`;
    const started = performance.now();
    let whole = '';
    for (let at = 0; at < 1_000; at += 1) {
      whole += part;
      splitter.split(whole);
    }
    expect(splitter.split(whole)).toHaveLength(1_000);
    expect(performance.now() - started).toBeLessThan(1_500);
  });
});

describe('definitions', () => {
  test('are seen wherever they are', () => {
    expect(hasDefinitions('see [a]\n\n[a]: https://example.org')).toBe(true);
    expect(hasDefinitions('x[^1]\n\n[^1]: note')).toBe(true);
    expect(hasDefinitions('an array[0]: number')).toBe(false);
  });
});

describe('the cost', () => {
  const list = Array.from({ length: 60 }, (_, at) => `${'  '.repeat(at)}- a`).join('\n');
  test.each([
    ['brackets', '['.repeat(5_000)],
    ['emphasis', '*a_ '.repeat(2_000)],
    ['links', '[a]('.repeat(3_000)],
    ['quotes', `${'>'.repeat(1_000)}a`],
    ['quotes with blanks', `${'> '.repeat(100)}a`],
    ['lists in a line', `${'- '.repeat(500)}a`],
    ['lists in lists', list],
    ['cells', `|a|\n|-|\n${'|a|\n'.repeat(5_000)}`],
    ['backticks', '`a'.repeat(3_000)],
    ['lines', 'a\n'.repeat(3_000)],
    ['length', 'word '.repeat(50_000)],
  ])('of too many %s is more than is spent', (_, text) => {
    expect(estimateCost(text)).toBeGreaterThan(MOST_BLOCK_COST);
  });

  test('of usual text is small', () => {
    const text = 'A **usual** answer with `code`, a [link](https://example.org) and _words_. '.repeat(20);
    expect(estimateCost(text)).toBeLessThan(40);
    expect(estimateCost('-----------------------------')).toBeLessThan(5);
    expect(estimateCost(`| a | b |\n|---|---|\n${'| 1 | 2 |\n'.repeat(100)}`)).toBeLessThan(120);
  });

  test('counts how deep it gets', () => {
    expect(deepest('a\n> > - b\nc')).toBe(3);
    expect(deepest('plain')).toBe(0);
  });

  test('is spent on the first blocks', () => {
    expect(affordable([{ cost: 200 }, { cost: 300 }, { cost: 200 }])).toBe(3);
    expect(affordable(Array(10).fill({ cost: 200 }))).toBe(4);
    expect(affordable(Array(5_000).fill({ cost: 0 }))).toBe(800);
  });
});

describe('a link', () => {
  test.each([
    'https://example.org/a?b#c',
    'http://127.0.0.1:8080',
    'mailto:a@example.org',
    ' HTTPS://EXAMPLE.ORG ',
  ])('to %s may be followed', (href) => {
    expect(deriveLink(href)).toBe(href.trim());
  });

  test.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'java\nscript:alert(1)',
    '\u0001javascript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:https://example.org/x',
    '//example.org',
    '/api/v1/runs',
    '#top',
    'https:/\\x',
    'http://',
    '',
    null,
    7,
    `https://example.org/${'a'.repeat(5_000)}`,
  ])('to %s may not', (href) => {
    expect(deriveLink(href)).toBeNull();
  });
});
