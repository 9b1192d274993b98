import { cleanup, fireEvent, render, screen, waitFor } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { DiffView } from './DiffView';

afterEach(cleanup);

const words = (container: HTMLElement) =>
  [...container.querySelectorAll('.diff-row')].map((row) =>
    [...row.querySelectorAll('.diff-text')].map((text) => text.textContent).join(' | '),
  );

test('a change is shown below each other, or side by side', () => {
  const source = { path: 'a.txt', old: 'one\ntwo', new: 'one\n2' };
  const { container, rerender } = render(<DiffView {...source} mode="unified" />);
  expect(words(container)).toEqual(['one', 'removed: two', 'added: 2']);
  rerender(<DiffView {...source} mode="split" />);
  expect(words(container)).toEqual(['one | one', 'removed: two | added: 2']);
});

test('a change without a diff says so', () => {
  render(<DiffView change={{ path: 'a.txt', kind: 'modified' }} />);
  expect(screen.getByText(/did not say what has changed/)).toBeDefined();
});

test('what is the same can be opened', () => {
  const old = Array.from({ length: 40 }, (_, at) => `line ${at}`).join('\n');
  const { container } = render(<DiffView path="a.txt" old={old} new={`${old}\nend`} mode="unified" />);
  expect(container.textContent).not.toContain('line 5');
  fireEvent.click(screen.getByRole('button', { name: /Show 37 lines as before/ }));
  expect(container.textContent).toContain('line 5');
});

test('a large diff shows its beginning, and more when asked', () => {
  const text = Array.from({ length: 5_000 }, (_, at) => `line ${at}`).join('\n');
  const { container } = render(<DiffView path="a.txt" old="" new={text} mode="unified" />);
  expect(container.querySelectorAll('.diff-row').length).toBe(120);
  fireEvent.click(screen.getByRole('button', { name: 'Show 400 more of 5,000 lines' }));
  expect(container.querySelectorAll('.diff-row').length).toBe(520);
});

test('lines get colours, and marks where words differ, and stay as they are', async () => {
  const { container } = render(
    <DiffView path="a.ts" old="const a = one();" new="const a = two();" mode="unified" />,
  );
  // The highlighter is loaded first.
  await waitFor(() => expect(container.querySelector('.tok-keyword')).not.toBeNull(), { timeout: 10_000 });
  expect(words(container)).toEqual(['removed: const a = one();', 'added: const a = two();']);
  expect([...container.querySelectorAll('mark')].map((mark) => mark.textContent)).toEqual(['one', 'two']);
});

test('markup in names and lines stays text', () => {
  const bad = '<img src=x onerror=alert(1)>';
  const { container } = render(<DiffView path={bad} old={bad} new={`${bad}!`} />);
  expect(container.querySelector('img')).toBeNull();
  expect(container.textContent).toContain(bad);
});
