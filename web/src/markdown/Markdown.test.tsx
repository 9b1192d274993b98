import { cleanup, render, screen, waitFor } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { Blocks } from './Blocks';
import { Markdown } from './Markdown';

afterEach(cleanup);

const show = (text: string, isStreaming = false) =>
  render(<Blocks text={text} isStreaming={isStreaming} />).container;

test('a text is readable before the parser is there, then it is laid out', async () => {
  const { container } = render(<Markdown text="some **bold** words" />);
  expect(container.textContent).toContain('some **bold** words');
  await waitFor(() => expect(container.querySelector('strong')?.textContent).toBe('bold'));
});

test('lists, tables, tasks and headings are elements', () => {
  const container = show('# Title\n\n- [x] done\n- [ ] open\n\n| a | b |\n|---|---|\n| 1 | 2 |\n');
  expect(screen.getByRole('heading', { name: 'Title' }).tagName).toBe('H3');
  expect(container.querySelectorAll('li')).toHaveLength(2);
  expect(container.querySelector('td')?.textContent).toBe('1');
  expect(container.textContent).toContain('☑done:');
  expect(container.querySelector('input')).toBeNull();
});

test('code is shown as code, also inside a list', () => {
  const container = show('```rust\nfn main() {}\n```\n\n- item\n  ```js\n  let a;\n  ```\n');
  expect([...container.querySelectorAll('.code-text')].map((code) => code.textContent)).toEqual([
    'fn main() {}\n',
    'let a;\n',
  ]);
});

test('links open elsewhere and tell nothing, others are text', () => {
  const container = show('[good](https://example.org) [bad](javascript:alert(1)) [own](/api/v1/runs)');
  const links = [...container.querySelectorAll('a')];
  expect(links.map((link) => link.getAttribute('href'))).toEqual(['https://example.org']);
  expect(links[0]?.getAttribute('rel')).toBe('noopener noreferrer');
  expect(links[0]?.getAttribute('target')).toBe('_blank');
  expect(container.textContent).toContain('bad');
});

test('pictures are never loaded', () => {
  const container = show('![a cat](https://example.org/cat.png) ![](data:image/png;base64,AAAA)');
  expect(container.querySelector('img')).toBeNull();
  expect(screen.getByRole('link', { name: 'Image: a cat' })).toBeDefined();
  expect(container.textContent).toContain('Image: without a description');
});

test('raw markup stays text', () => {
  const text =
    'a <b onclick=alert(1)>b</b>\n\n<script>alert(1)</script>\n\n<iframe src="https://example.org"></iframe>\n\n<svg/onload=alert(1)>';
  const container = show(text);
  expect(container.querySelector('b, script, iframe, svg')).toBeNull();
  expect(container.textContent).toContain('<script>alert(1)</script>');
  expect(container.textContent).toContain('onload=alert(1)');
});

test('links whose address is elsewhere, and footnotes, work in a complete text', () => {
  const container = show('see [a][x] and[^1]\n\n[x]: https://example.org\n\n[^1]: the note');
  expect(container.querySelector('a')?.getAttribute('href')).toBe('https://example.org');
  expect(container.textContent).toContain('the note');
});

test.each([
  ['a long text', 'word '.repeat(50_000)],
  ['brackets', '['.repeat(20_000)],
  ['emphasis', '*a_ '.repeat(10_000)],
  ['quotes', `${'>'.repeat(5_000)} deep`],
  ['lists', Array.from({ length: 300 }, (_, at) => `${' '.repeat(at * 2)}- a`).join('\n')],
  ['cells', `|${'a|'.repeat(200)}\n|${'-|'.repeat(200)}\n${`|${'a|'.repeat(200)}\n`.repeat(100)}`],
  ['blocks', 'a\n\n'.repeat(20_000)],
])('%s without end: shown as plain text', (_, text) => {
  const started = performance.now();
  const container = show(text);
  expect(performance.now() - started).toBeLessThan(5_000);
  expect(container.textContent).toContain('Shown as plain text');
});

test('one strange block does not spoil the others', () => {
  const container = show(`**first**\n\n${'['.repeat(5_000)}\n\n**last**`);
  expect([...container.querySelectorAll('strong')].map((each) => each.textContent)).toEqual([
    'first',
    'last',
  ]);
});

test('a text that grows ends as the same text given at once', async () => {
  const whole = '# Title\n\nSome *words* here.\n\n```js\nlet a = 1;\n\nlet b;\n```\n\n1. one\n2. two\n';
  const { container, rerender } = render(<Blocks text="" isStreaming />);
  for (let at = 1; at <= whole.length; at += 3) rerender(<Blocks text={whole.slice(0, at)} isStreaming />);
  rerender(<Blocks text={whole} isStreaming />);
  await waitFor(() => expect(container.textContent).toContain('two'));
  rerender(<Blocks text={whole} isStreaming={false} />);
  expect(container.textContent).toBe(show(whole).textContent);
});
