import { cleanup, fireEvent, render, screen, waitFor } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { CodeView } from './CodeView';

afterEach(cleanup);

test('text is there at once, and its colours follow without another text', async () => {
  const text = 'fn main() {\n    let answer = "42";\n}\n';
  const { container } = render(<CodeView text={text} path="main.rs" />);
  const code = () => container.querySelector('code');
  expect(code()?.textContent).toBe(text);
  expect(container.querySelector('.tok-keyword')).toBeNull();
  await waitFor(() => expect(container.querySelector('.tok-keyword')?.textContent).toContain('fn'), {
    timeout: 10_000,
  });
  expect(code()?.textContent).toBe(text);
});

test('a colour that runs over lines goes on in the next portion', async () => {
  const text = `/*\n${'still a comment\n'.repeat(100)}*/\nint x;`;
  const { container } = render(<CodeView text={text} language="c" />);
  await waitFor(() => expect(container.querySelector('.tok-comment')).not.toBeNull(), { timeout: 10_000 });
  const section = screen.getByLabelText('Code');
  await waitFor(() => expect(container.querySelectorAll('.tok-comment').length).toBeGreaterThan(90), {
    timeout: 10_000,
  });
  expect(section.textContent).toContain('int x;');
});

test('a long text is folded, then only lines in view are rendered', () => {
  const text = Array.from({ length: 50_000 }, (_, at) => `line ${at + 1}`).join('\n');
  const { container } = render(<CodeView text={text} maxLines={40} />);
  expect(container.textContent).toContain('line 40');
  expect(container.textContent).not.toContain('line 41\n');
  fireEvent.click(screen.getByRole('button', { name: 'Show all 50,000 lines' }));
  expect(container.querySelector('code')?.textContent?.split('\n').length).toBeLessThan(200);
});

test('numbers begin where the text begins', () => {
  const { container } = render(<CodeView text={'a\nb'} firstLine={120} />);
  expect(container.querySelector('.code-gutter')?.textContent).toBe('120\n121');
});

test('markup in a text stays text', async () => {
  const text = '<img src=x onerror=alert(1)><script>alert(1)</script>';
  const { container } = render(<CodeView text={text} language="html" />);
  await waitFor(() => expect(container.querySelector('[class^=tok-]')).not.toBeNull(), { timeout: 10_000 });
  expect(container.querySelector('img, script')).toBeNull();
  expect(container.querySelector('code')?.textContent).toBe(`${text}\n`);
});

test('more lines than a browser can scroll are cut, and it is said', () => {
  const { container } = render(
    <CodeView text={'y\n'.repeat(1_500_000)} maxLines={Number.MAX_SAFE_INTEGER} />,
  );
  expect(container.textContent).toContain('The first 1,000,000 of 1,500,000 lines.');
  expect(container.querySelectorAll('*').length).toBeLessThan(100);
});
