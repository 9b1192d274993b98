import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { searchRun } from '../api/records';
import { FindBar } from './FindBar';

vi.mock('../api/records', () => ({ searchRun: vi.fn() }));
const search = vi.mocked(searchRun);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  cleanup();
  vi.useRealTimers();
  search.mockReset();
});

function page(seqs: number[], next: string | null = null) {
  return { items: seqs.map((seq) => ({ seq })), next, is_complete: true, lag: 0 } as never;
}

function show() {
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const onChange = vi.fn();
  const bar = (text: string, isLive: boolean) => (
    <QueryClientProvider client={queries}>
      <FindBar
        id="r"
        text={text}
        at={0}
        isLive={isLive}
        reader={{ current: 0 }}
        onChange={(next) => onChange(next)}
        onGo={() => {}}
      />
    </QueryClientProvider>
  );
  return { bar, onChange };
}

const wait = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));

test('what is typed is looked for, however often the page is rendered meanwhile', async () => {
  const { bar, onChange } = show();
  const { rerender } = render(bar('', true));
  fireEvent.change(screen.getByRole('searchbox'), { target: { value: 'x' } });
  for (let time = 0; time < 4; time += 1) {
    await wait(100);
    rerender(bar('', true));
  }
  expect(onChange).toHaveBeenCalledWith('x');
});

test('a page of hits that cannot be had is not asked for without end', async () => {
  search.mockResolvedValueOnce(page([1], 'more')).mockRejectedValue(new Error('no answer'));
  render(show().bar('x', false));
  await wait(3_000);
  expect(search).toHaveBeenCalledTimes(2);
  expect(screen.getByRole('status').textContent).toBe('no answer');
});

test('hits that come while the run goes on are counted, up to its end', async () => {
  search.mockResolvedValueOnce(page([1])).mockResolvedValueOnce(page([1, 9]));
  const { bar } = show();
  const { rerender } = render(bar('x', true));
  await wait(100);
  expect(screen.getByRole('status').textContent).toBe('1 record');
  await wait(5_100);
  expect(screen.getByRole('status').textContent).toBe('2 records');
  search.mockResolvedValue(page([1, 9, 12]));
  rerender(bar('x', false));
  await wait(100);
  expect(screen.getByRole('status').textContent).toBe('3 records');
});

test('of very many hits the newest are counted, and older ones when somebody asks', async () => {
  let asked = 0;
  search.mockImplementation(async () => {
    asked += 1;
    return page([2_000 - asked], asked < 25 ? `${asked}` : null);
  });
  // Each page is asked for when the one before is shown.
  const settle = async () => {
    for (let time = 0; time < 15; time += 1) await wait(10);
  };
  render(show().bar('x', false));
  await settle();
  const says = () => screen.getByRole('status').textContent;
  expect(says()).toBe('the newest 10 records');
  fireEvent.click(screen.getByRole('button', { name: 'Look for older ones' }));
  await settle();
  expect(says()).toBe('the newest 20 records');
  fireEvent.click(screen.getByRole('button', { name: 'Look for older ones' }));
  await settle();
  expect(says()).toBe('25 records');
  expect(screen.queryByRole('button', { name: 'Look for older ones' })).toBeNull();
});
