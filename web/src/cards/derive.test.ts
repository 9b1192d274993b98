import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { callOf } from './calls-for-tests';
import { deriveAnsi } from './derive-ansi';
import { deriveCounts, deriveEdits } from './derive-edits';
import { deriveElapsed } from './derive-elapsed';
import { deriveMatches, derivePages } from './derive-found';
import { deriveJson, prettyIfJson } from './derive-json';
import { derivePlan, planSummary } from './derive-plan';
import { deriveQuestions } from './derive-questions';
import { deriveRead } from './derive-read';
import { withoutExitCode } from './kinds/command';
import { mcpTitle } from './kinds/generic';
import { numberAt, oneLine, pathAt, textAt } from './read-input';

test('arguments of any shape are read without an exception', () => {
  fc.assert(
    fc.property(fc.anything({ withNullPrototype: true, withBigInt: true }), (input) => {
      textAt(input, 'command', '__proto__', 'constructor');
      numberAt(input, 'offset');
      pathAt(input);
      derivePlan(input);
      deriveQuestions(input);
      deriveJson(input);
      deriveEdits(callOf({ input }));
    }),
  );
  expect(textAt('text', 'length')).toBeNull();
  expect(textAt(null, 'a')).toBeNull();
});

test('one line is one line, and not too long', () => {
  expect(oneLine(' a\n\tb ')).toBe('a b');
  expect(oneLine('x'.repeat(1_000))).toHaveLength(401);
});

describe('the output of a terminal', () => {
  test('has its colours as classes', () => {
    const { lines, spans } = deriveAnsi('\u001b[1;31merror\u001b[0m: no\n\u001b[32mok');
    expect(lines).toEqual(['error: no', 'ok']);
    expect(spans[0]).toEqual([
      { text: 'error', className: 'ansi-red font-bold' },
      { text: ': no', className: '' },
    ]);
    expect(spans[1]).toEqual([{ text: 'ok', className: 'ansi-green' }]);
  });

  test('keeps a colour over lines', () => {
    expect(deriveAnsi('\u001b[33ma\nb').spans[1]).toEqual([{ text: 'b', className: 'ansi-yellow' }]);
  });

  test('loses what moves the cursor, sets titles or links', () => {
    const text =
      '\u001b[2J\u001b[3;4Ha\u001b]0;title\u0007b\u001b]8;;https://example.org\u001b\\c\u001b(Bd\u0008\u0000';
    expect(deriveAnsi(text).lines).toEqual(['abcd']);
  });

  test('shows of a line that was written over the last words', () => {
    expect(deriveAnsi('10 %\r50 %\r100 %\ndone\r\n').lines).toEqual(['100 %', 'done']);
  });

  test('knows long forms of colours', () => {
    expect(deriveAnsi('\u001b[38;5;9ma\u001b[38;2;1;2;3mb\u001b[48;5;4;1mc').spans[0]).toEqual([
      { text: 'a', className: 'ansi-red' },
      { text: 'b', className: '' },
      { text: 'c', className: 'font-bold' },
    ]);
  });

  test('of any bytes gives only classes of the page and no control characters', () => {
    const piece = fc.constantFrom(
      '\u001b',
      '[',
      '3',
      ';',
      'm',
      ']',
      '\u0007',
      '\r',
      '\n',
      'x',
      '"',
      '<b>',
      '\u0000',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const { lines, spans } = deriveAnsi(pieces.join(''));
        expect(lines.length).toBe(spans.length);
        for (const span of spans.flat()) expect(span?.className ?? '').toMatch(/^[a-z -]*$/);
        for (const line of lines) expect([...line].every((char) => char >= ' ' || char === '\t')).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test('that is long and hostile takes little time', () => {
    const started = performance.now();
    deriveAnsi(`${'\u001b[1;2;3'.repeat(20_000)}\n${'\u001b]8;'.repeat(20_000)}\n${'\r'.repeat(100_000)}`);
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});

describe('a file that was read', () => {
  test('loses the numbers before its lines', () => {
    expect(deriveRead('    12→fn main() {\n    13→}\n\n<note>hint</note>')).toEqual({
      firstLine: 12,
      text: 'fn main() {\n}',
      after: '<note>hint</note>',
    });
    expect(deriveRead('     1\ta\tb\n     2\t').text).toBe('a\tb\n');
  });

  test('keeps numbers that are its own', () => {
    expect(deriveRead('a\n1→b')).toEqual({ firstLine: null, text: 'a\n1→b', after: '' });
    expect(deriveRead('7→a\n9→b')).toEqual({ firstLine: 7, text: 'a', after: '9→b' });
  });
});

describe('an edit', () => {
  const input = { file_path: 'a.rs', old_string: 'x', new_string: 'y' };

  test('is shown from its arguments until its end tells more', () => {
    expect(deriveEdits(callOf({ kind: 'edit', input })).diffs).toEqual([
      { path: 'a.rs', old: 'x', new: 'y', hasNumbers: false },
    ]);
    const change = { path: 'a.rs', kind: 'modified', diff: '@@ -1 +1 @@\n-x\n+y\n', lines: [1, 1] } as const;
    const done = callOf({ kind: 'edit', input, changes: [{ ...change, lines: [1, 1] }] });
    expect(deriveEdits(done).diffs).toEqual([{ change: { ...change, lines: [1, 1] } }]);
    expect(deriveCounts(done)).toEqual({ added: 1, removed: 1 });
    expect(deriveCounts(callOf({}))).toBeNull();
  });

  test('of several places, of a whole file and of a notebook is known', () => {
    const many = {
      path: 'a',
      edits: [{ old_string: '', new_string: 'a' }, { nothing: 1 }, { old_string: 'b' }],
    };
    expect(deriveEdits(callOf({ input: many })).diffs).toHaveLength(2);
    expect(deriveEdits(callOf({ input: { file_path: 'a', content: '' } })).diffs).toEqual([
      { path: 'a', old: '', new: '' },
    ]);
    const notebook = { notebook_path: 'a.ipynb', new_source: 'print(1)' };
    expect(deriveEdits(callOf({ input: notebook })).diffs).toHaveLength(1);
  });

  test('without a diff names its files', () => {
    const planned = {
      changes: [{ path: 'a', kind: 'add' }, { path: 'b', kind: 'constructor' }, 'x', { kind: 'add' }],
    };
    expect(deriveEdits(callOf({ input: planned })).files).toEqual([
      { path: 'a', kind: 'added' },
      { path: 'b', kind: 'modified' },
    ]);
  });
});

describe('what was found', () => {
  test('is grouped by file', () => {
    expect(deriveMatches('a.rs:1:x\na.rs-2-y\n--\nb.rs:7:z: w')).toEqual([
      {
        path: 'a.rs',
        matches: [
          { line: 1, text: 'x', isMatch: true },
          { line: 2, text: 'y', isMatch: false },
        ],
      },
      { path: 'b.rs', matches: [{ line: 7, text: 'z: w', isMatch: true }] },
    ]);
  });

  test('is no list of lines if it is none', () => {
    expect(deriveMatches('Found 2 files\na.rs\nb.rs')).toBeNull();
    expect(deriveMatches('')).toBeNull();
  });

  test('in the web has titles and addresses', () => {
    const links =
      'Web search results\n\nLinks: [{"title":"A","url":"https://a.example"},{"url":7},null]\n\nWords';
    expect(derivePages(links)).toEqual({
      pages: [{ title: 'A', url: 'https://a.example' }],
      rest: 'Web search results\n\n\nWords',
    });
    expect(derivePages('A page https://a.example/b\nno page').pages).toEqual([
      { title: 'A page', url: 'https://a.example/b' },
    ]);
    expect(derivePages('Links: [{"broken').pages).toEqual([]);
  });

  test('an output full of beginnings of lists is read once', () => {
    const start = performance.now();
    expect(derivePages('Links: ['.repeat(60_000)).pages).toEqual([]);
    // Looked through again for each of them it took minutes.
    expect(performance.now() - start).toBeLessThan(2_000);
  });
});

describe('lists and questions', () => {
  test('things to do are known by several names', () => {
    const todos = [
      { content: 'a', status: 'completed' },
      { description: 'b', status: 'in_progress' },
      'c',
      {},
      null,
    ];
    const entries = derivePlan({ todos });
    expect(entries).toEqual([
      { text: 'a', status: 'completed' },
      { text: 'b', status: 'in_progress' },
      { text: 'c', status: 'pending' },
    ]);
    expect(planSummary(entries)).toBe('1 of 3 done, now: b');
    expect(derivePlan({ todos: [{ content: 'a', status: 'toString' }] })[0]?.status).toBe('pending');
  });

  test('questions have options', () => {
    const questions = [
      {
        question: 'Which?',
        header: 'Way',
        options: [{ label: 'A', description: 'x' }, 'B', 3],
        multiSelect: true,
      },
    ];
    expect(deriveQuestions({ questions })).toEqual([
      {
        text: 'Which?',
        header: 'Way',
        options: [{ label: 'A', description: 'x' }, { label: 'B' }],
        is_multiple: true,
      },
    ]);
    expect(deriveQuestions({ question: 'Why?' })).toMatchObject([{ text: 'Why?', options: [] }]);
  });
});

test('values are readable, whatever they are', () => {
  expect(deriveJson({ a: [1] })).toBe('{\n  "a": [\n    1\n  ]\n}');
  expect(deriveJson(undefined)).toBe('');
  expect(deriveJson(1n)).toBe('This value cannot be shown.');
  expect(deriveJson('x'.repeat(200_000)).length).toBeLessThan(101_000);
  expect(prettyIfJson('{"a":1}')).toEqual({ text: '{\n  "a": 1\n}', isJson: true });
  expect(prettyIfJson('{a')).toEqual({ text: '{a', isJson: false });
});

test('an exit code is told once', () => {
  expect(withoutExitCode({ output: 'Exit code 2\nbad', exitCode: 2 })).toBe('bad');
  expect(withoutExitCode({ output: 'Exit code 2', exitCode: 2 })).toBe('');
  expect(withoutExitCode({ output: 'Exit code 2\nbad', exitCode: 3 })).toBe('Exit code 2\nbad');
  expect(withoutExitCode({ output: 'Exit code 2\nbad', exitCode: null })).toBe('Exit code 2\nbad');
});

test('a tool of a server is named with its server', () => {
  expect(mcpTitle('mcp__files__read__all', null)).toBe('files · read__all');
  expect(mcpTitle('mcp_files_read', 'files')).toBe('files · read');
  expect(mcpTitle('read', 'files')).toBe('files · read');
  expect(mcpTitle('read', null)).toBe('read');
});

describe('the time of a call', () => {
  const now = Date.parse('2026-01-01T10:00:05.000Z');
  test('is known at its end, and ticks before', () => {
    expect(deriveElapsed(callOf({ elapsedMs: 1_200 }), now)).toBe(1_200);
    expect(deriveElapsed(callOf({ state: 'running' }), now)).toBe(5_000);
    expect(deriveElapsed(callOf({ state: 'running', elapsedMs: 9_000 }), now)).toBe(9_000);
    expect(deriveElapsed(callOf({ state: 'preparing' }), now)).toBeNull();
  });

  test('is never below zero, however wrong a clock is', () => {
    expect(deriveElapsed(callOf({ state: 'running', startedAt: '2030-01-01T00:00:00Z' }), now)).toBe(0);
    expect(deriveElapsed(callOf({ state: 'running', startedAt: 'yesterday' }), now)).toBeNull();
  });
});
