import { cleanup, fireEvent, render, screen, waitFor } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import type { RawRef } from '../run/tool-call';
import { callOf } from './calls-for-tests';
import { PIECE_BYTES } from './load-raw';
import { ToolCard } from './registry';

vi.mock('../api/records', () => ({ fetchAllRecords: async () => ({ records: [], isComplete: true }) }));

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

/** A call whose output was cut, and a server that has all of it. */
function show(raw: string, length = new TextEncoder().encode(raw).length) {
  const bytes = new TextEncoder().encode(raw);
  const asked: number[] = [];
  vi.stubGlobal('fetch', async (_: string, options?: RequestInit) => {
    const [, from, to] = /bytes=(\d+)-(\d+)/.exec(new Headers(options?.headers).get('range') ?? '') ?? [];
    asked.push(Number(from));
    return new Response(bytes.slice(Number(from), Number(to) + 1), { status: 206 });
  });
  const ref: RawRef = { iteration: 1, attempt: 1, offset: 0, length };
  const call = callOf({
    item: 'a',
    name: 'Bash',
    kind: 'execute',
    input: { command: 'x' },
    output: 'ends',
    outputBytes: length,
    raw: [ref, ref],
  });
  const { container } = render(<ToolCard call={call} run="run" />);
  return { container, asked };
}

const line = (output: string) =>
  JSON.stringify({ message: { content: [{ tool_use_id: 'a', content: output }] } });

test('all of a long output is loaded piece by piece, and only the lines in view are rendered', async () => {
  const output = Array.from({ length: 200_000 }, (_, at) => `line ${at}`).join('\n');
  const { container, asked } = show(line(output));
  expect(asked).toEqual([]);
  fireEvent.click(screen.getByRole('button', { name: /Show full \(2\.\d MB\)/ }));
  const full = await screen.findByLabelText('Full output', {}, { timeout: 5_000 });
  expect(asked.length).toBeGreaterThan(2);
  expect(asked.every((from, at) => at === 0 || from - (asked[at - 1] ?? 0) <= PIECE_BYTES)).toBe(true);
  expect(full.textContent).toContain('line 0');
  expect(container.querySelectorAll('*').length).toBeLessThan(300);
});

test('what is too long for that is shown a piece at a time', async () => {
  const { container } = show(line('words'), 500_000_000);
  fireEvent.click(screen.getByRole('button', { name: 'Show full (500.0 MB)' }));
  fireEvent.click(await screen.findByRole('button', { name: 'First part' }));
  await waitFor(() => expect(container.textContent).toContain('words'));
  expect(screen.getByRole('button', { name: 'Next part' })).toBeDefined();
});

test('words without an output in them are shown as they are', async () => {
  const { container } = show('no json at all');
  fireEvent.click(screen.getByRole('button', { name: /Show full/ }));
  await waitFor(() => expect(container.textContent).toContain('The output was not found'));
  fireEvent.click(screen.getByRole('button', { name: 'First part' }));
  await waitFor(() => expect(container.textContent).toContain('no json at all'));
});

test('a server that does not answer is told, and can be asked again', async () => {
  show(line('x'));
  vi.stubGlobal('fetch', async () => {
    throw new TypeError('failed');
  });
  fireEvent.click(screen.getByRole('button', { name: /Show full/ }));
  await waitFor(() => expect(document.body.textContent).toContain('The server does not answer'));
  expect(screen.getByRole('button', { name: /Show full/ }).hasAttribute('disabled')).toBe(false);
});
