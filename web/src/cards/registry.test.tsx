import { cleanup, fireEvent, render, screen, waitFor } from '@testing-library/react';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { KeptState } from '../run/kept-state';
import type { ToolCall, ToolCallState, ToolKind } from '../run/tool-call';
import { callOf } from './calls-for-tests';
import { cardOf, ToolCard } from './registry';

vi.mock('../api/records', () => ({ fetchAllRecords: async () => ({ records: [], isComplete: true }) }));

beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
});
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

function show(parts: Partial<ToolCall>) {
  return render(
    <KeptState value={new Map()}>
      <ToolCard call={callOf(parts)} run="run" />
    </KeptState>,
  ).container;
}

function showOpen(parts: Partial<ToolCall>) {
  const container = show(parts);
  const head = container.querySelector('.tool-head');
  if (head?.getAttribute('aria-expanded') === 'false') fireEvent.click(head);
  return container;
}

describe('the card', () => {
  test('follows from the name, then from the kind, and there is always one', () => {
    expect(cardOf({ name: 'ExitPlanMode', kind: 'other' })).toBe(cardOf({ name: 'x', kind: 'switch_mode' }));
    expect(cardOf({ name: 'run_shell_command', kind: 'execute' })).toBe(
      cardOf({ name: 'Bash', kind: 'execute' }),
    );
    expect(cardOf({ name: 'Bash', kind: 'mcp' })).toBe(cardOf({ name: 'x', kind: 'mcp' }));
    const generic = cardOf({ name: 'x', kind: 'other' });
    expect(cardOf({ name: 'constructor', kind: 'other' })).toBe(generic);
    expect(cardOf({ name: 'x', kind: 'toString' as ToolKind })).toBe(generic);
  });

  test('tells the tool, what it is used on, how it went and how long it took', () => {
    show({ name: 'Read', kind: 'read', subject: 'src/main.rs' });
    const head = screen.getByRole('button', { name: /Read.*done.*1\.2 s.*src\/main\.rs/ });
    expect(head.getAttribute('aria-expanded')).toBe('false');
  });

  test.each([
    ['edits', { name: 'Edit', kind: 'edit' }, 'true'],
    ['reads', { name: 'Read', kind: 'read' }, 'false'],
    ['searches', { name: 'Grep', kind: 'search' }, 'false'],
    ['failed reads', { name: 'Read', kind: 'read', state: 'failed' }, 'true'],
    ['commands', { name: 'Bash', kind: 'execute' }, 'true'],
  ] as const)('of %s is open or not before anybody says so', (_, parts, isOpen) => {
    const container = show(parts);
    expect(container.querySelector('.tool-head')?.getAttribute('aria-expanded')).toBe(isOpen);
  });

  test('stays as somebody left it when it comes back', () => {
    const kept = new Map<string, unknown>();
    const card = (
      <KeptState value={kept}>
        <ToolCard call={callOf({ name: 'Read', kind: 'read', output: 'hello' })} run="run" />
      </KeptState>
    );
    const first = render(card);
    fireEvent.click(screen.getByRole('button', { name: /Read/ }));
    first.unmount();
    expect(render(card).container.textContent).toContain('hello');
  });
});

describe('what the cards show', () => {
  test('a command: its words, its colours, its exit code', () => {
    const container = show({
      name: 'Bash',
      kind: 'execute',
      input: { command: 'npm test', description: 'Run the tests' },
      output: 'Exit code 1\n\u001b[31mfailed\u001b[0m',
      state: 'failed',
      exitCode: 1,
    });
    expect(container.textContent).toContain('Run the tests');
    expect(screen.getByText('exit code 1')).toBeDefined();
    expect(container.querySelector('.ansi-red')?.textContent).toBe('failed');
  });

  test('a command whose data has no exit code has none', () => {
    expect(show({ name: 'Bash', kind: 'execute', input: { command: 'ls' } }).textContent).not.toContain(
      'exit code',
    );
  });

  test('an edit: its diff', async () => {
    const input = { file_path: 'a.txt', old_string: 'one', new_string: 'two' };
    const container = show({ name: 'Edit', kind: 'edit', input });
    await waitFor(() => expect(container.textContent).toContain('added: two'), { timeout: 10_000 });
  });

  test('an edit that failed: why, and what it wanted', async () => {
    const input = { file_path: 'a.txt', old_string: 'one', new_string: 'two' };
    const container = show({
      name: 'Edit',
      kind: 'edit',
      input,
      state: 'failed',
      output: 'String not found',
    });
    expect(container.textContent).toContain('String not found');
    await waitFor(() => expect(container.textContent).toContain('removed: one'));
  });

  test('a file: its lines with their own numbers', () => {
    const container = showOpen({ name: 'Read', kind: 'read', output: '    41→fn a() {\n    42→}' });
    expect(container.querySelector('.code-gutter')?.textContent).toBe('41\n42');
    expect(container.querySelector('code')?.textContent).toBe('fn a() {\n}\n');
  });

  test('a search: what was found, by file', () => {
    const container = showOpen({
      name: 'Grep',
      kind: 'search',
      input: { pattern: 'x' },
      output: 'a.rs:3:let x;',
    });
    expect(container.textContent).toContain('a.rs');
    expect(container.textContent).toContain('let x;');
  });

  test('a search of the web: links', () => {
    showOpen({
      name: 'WebSearch',
      kind: 'web_search',
      input: { query: 'q' },
      output: 'Title https://example.org/a',
    });
    expect(screen.getByRole('link', { name: 'Title' }).getAttribute('href')).toBe('https://example.org/a');
  });

  test('a list of things to do', () => {
    const container = show({
      name: 'TodoWrite',
      kind: 'plan',
      input: { todos: [{ content: 'Build', status: 'completed' }] },
    });
    expect(container.textContent).toContain('done:');
    expect(container.textContent).toContain('1 of 1 done');
  });

  test('a plan and a question', async () => {
    const plan = show({ name: 'ExitPlanMode', kind: 'switch_mode', input: { plan: '# Do it' } });
    await waitFor(() => expect(plan.querySelector('h3')?.textContent).toBe('Do it'));
    cleanup();
    const questions = [{ question: 'Which way?', options: [{ label: 'Left' }] }];
    const question = show({ name: 'AskUserQuestion', kind: 'question', input: { questions } });
    expect(question.textContent).toContain('Which way?');
    expect(question.textContent).toContain('Left');
  });

  test('a subagent: what it was told and what it answered', async () => {
    const container = showOpen({
      name: 'Task',
      kind: 'agent',
      input: { prompt: 'Look around' },
      output: '**Seen**',
    });
    expect(container.textContent).toContain('Look around');
    await waitFor(() => expect(container.querySelector('strong')?.textContent).toBe('Seen'));
  });

  test('a tool of a server: its server, what went in and came out', () => {
    const container = showOpen({
      name: 'mcp__db__query',
      kind: 'mcp',
      mcpServer: 'db',
      input: { sql: 'x' },
      output: '{"rows":1}',
    });
    expect(container.textContent).toContain('db · query');
    expect(container.textContent).toContain('"sql": "x"');
    expect(container.textContent).toContain('"rows": 1');
  });

  test('arguments that are still being written', () => {
    const container = show({
      name: 'Write',
      kind: 'edit',
      state: 'preparing',
      input: null,
      partialInput: '{"file_path":"a',
    });
    expect(container.textContent).toContain('{"file_path":"a');
    expect(container.textContent).toContain('being written');
  });

  test('a long output: its beginning, its end, and all of it when asked', () => {
    const output = Array.from({ length: 500 }, (_, at) => `line ${at}`).join('\n');
    const container = show({ name: 'Bash', kind: 'execute', input: { command: 'x' }, output });
    expect(container.textContent).toContain('line 0');
    expect(container.textContent).toContain('line 499');
    expect(container.textContent).not.toContain('line 250');
    fireEvent.click(screen.getByRole('button', { name: 'Show 484 more lines' }));
    expect(screen.getByLabelText('Output').textContent).toContain('line 20');
  });
});

describe('bad input', () => {
  const HOSTILE = '<img src=x onerror=alert(1)><script>alert(1)</script>"\'`$';
  const NAMES =
    'Edit MultiEdit Write NotebookEdit Read Bash Grep Glob WebFetch WebSearch Task TodoWrite AskUserQuestion ExitPlanMode Other'.split(
      ' ',
    );
  const KINDS: ToolKind[] = [
    'execute',
    'read',
    'edit',
    'delete',
    'move',
    'search',
    'fetch',
    'web_search',
    'plan',
    'mcp',
    'agent',
    'question',
    'switch_mode',
    'other',
  ];
  const STATES: ToolCallState[] = [
    'preparing',
    'running',
    'waiting',
    'completed',
    'failed',
    'denied',
    'cancelled',
    'background',
  ];
  const KEYS =
    'command file_path path content edits old_string new_string new_source todos questions question options prompt plan url query pattern changes allowed_domains description offset limit'.split(
      ' ',
    );

  test.each([...NAMES, ...KINDS])('%s: arguments of any shape show a card', (name) => {
    const kind = (KINDS as string[]).includes(name) ? (name as ToolKind) : 'other';
    const value = fc.oneof(
      fc.constant(HOSTILE),
      fc.constant(null),
      fc.array(fc.anything()),
      fc.object(),
      fc.integer(),
      fc.string(),
    );
    const input = fc.oneof(fc.dictionary(fc.constantFrom(...KEYS), value), fc.anything());
    fc.assert(
      fc.property(
        input,
        fc.constantFrom(...STATES),
        fc.constantFrom(HOSTILE, '', null),
        (input, state, output) => {
          const container = showOpen({ name, kind, state, input, output, subject: HOSTILE });
          expect(container.querySelector('.tool-head')).not.toBeNull();
          expect(container.querySelector('img, script, iframe, style')).toBeNull();
          cleanup();
        },
      ),
      { numRuns: 12 },
    );
  });

  test.each(NAMES)('%s: markup in every text stays text', async (name) => {
    const input = Object.fromEntries(KEYS.map((key) => [key, HOSTILE]));
    const container = showOpen({
      name: name === 'Other' ? HOSTILE : name,
      input,
      output: HOSTILE,
      subject: HOSTILE,
      attachments: [HOSTILE],
      changes: [{ path: HOSTILE, kind: 'modified', diff: `@@ -1 +1 @@\n-${HOSTILE}\n+${HOSTILE}!\n` }],
    });
    await waitFor(() => expect(container.textContent).not.toContain('Loading the diff'));
    expect(container.querySelector('img, script, iframe, style')).toBeNull();
    expect(container.textContent).toContain('<script>');
  });

  test('a card that breaks is replaced by one that fits all, with the reason', () => {
    const card = cardOf({ name: 'x', kind: 'move' });
    const { Body } = card;
    card.Body = () => {
      throw new Error('strange arguments');
    };
    const container = show({ name: 'x', kind: 'move', input: { a: 1 } });
    card.Body = Body;
    fireEvent.click(screen.getByRole('button', { name: /x/ }));
    expect(container.textContent).toContain('strange arguments');
    expect(container.textContent).toContain('"a": 1');
  });

  test('an unknown state shows a card', () => {
    expect(show({ state: 'lost' as ToolCallState }).querySelector('.tool-head')).not.toBeNull();
  });

  test('very long names and lines are cut', () => {
    const container = show({
      name: 'n'.repeat(10_000),
      subject: 's'.repeat(100_000),
      kind: 'execute',
      input: { command: 'c'.repeat(100_000) },
      output: 'o'.repeat(1_000_000),
    });
    expect(container.textContent?.length).toBeLessThan(60_000);
  });
});

describe('pictures', () => {
  const raw = [{ iteration: 1, attempt: 1, offset: 0, length: 10 }];

  test('are told in words; a broken one says so', async () => {
    const line = JSON.stringify({ data: btoa('no picture'), media_type: 'image/png' });
    vi.stubGlobal('fetch', async () => new Response(line, { status: 206 }));
    showOpen({ name: 'Read', kind: 'read', attachments: ['image/png, 10 bytes'], raw });
    await waitFor(() => expect(document.body.textContent).toContain('The picture is broken'));
    expect(screen.getByText('image/png, 10 bytes')).toBeDefined();
    expect(document.querySelector('img')).toBeNull();
    vi.unstubAllGlobals();
  });

  test('are shown from the raw line; one that the browser cannot read says so', async () => {
    const data =
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const line = JSON.stringify({ content: [{ type: 'image', source: { media_type: 'image/png', data } }] });
    vi.stubGlobal('fetch', async () => new Response(line, { status: 206 }));
    showOpen({ name: 'Read', kind: 'read', attachments: ['image/png, 70 bytes'], raw });
    const picture = await screen.findByRole('img', { name: 'Attachment: image/png, 70 bytes' });
    expect(picture.getAttribute('src')).toMatch(/^blob:/);
    fireEvent.error(picture);
    expect(document.body.textContent).toContain('the browser cannot show it');
    vi.unstubAllGlobals();
  });

  test('of other kinds have no button', () => {
    showOpen({ name: 'Read', kind: 'read', attachments: ['image/svg+xml, 10 bytes'], raw });
    expect(screen.queryByRole('button', { name: 'Show picture' })).toBeNull();
  });
});
