import { act, cleanup, renderHook, waitFor } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { fetchFailures } from '../api/changes';
import { findNearest, useJumps } from './use-jumps';

vi.mock('../api/changes', () => ({ fetchFailures: vi.fn(), fetchChanges: vi.fn() }));
afterEach(cleanup);

interface Query {
  after?: number;
  before?: number;
  limit?: number;
}

/** A server that searches `step` records at once, of which some failed. */
function source(head: number, failed: number[], step = 500) {
  let asked = 0;
  const fetch = async ({ after, before, limit = 1 }: Query) => {
    asked += 1;
    const isForward = after !== undefined;
    const [from, to] = isForward
      ? [after + 1, Math.min(head, after + step)]
      : [Math.max(1, (before ?? head + 1) - step), (before ?? head + 1) - 1];
    const hits = failed.filter((seq) => seq >= from && seq <= to);
    const items = (isForward ? hits.slice(0, limit) : hits.slice(-limit)).map((seq) => ({ seq }));
    return {
      items,
      next_after: isForward && to < head ? to : null,
      next_before: !isForward && from > 1 ? from : null,
    };
  };
  return { fetch, asked: () => asked };
}

test('the nearest failure is found in parts, in both directions', async () => {
  const { fetch } = source(900, [600, 700]);
  expect(await findNearest(fetch, 3, true)).toEqual({ is: 'found', seq: 600 });
  expect(await findNearest(fetch, 900, false)).toEqual({ is: 'found', seq: 700 });
  expect(await findNearest(fetch, 700, true)).toEqual({ is: 'none' });
});

test('a search ends though the run does not, and does not say that there is nothing', async () => {
  const { fetch, asked } = source(40_000, []);
  const first = await findNearest(fetch, 0, true);
  expect(first).toEqual({ is: 'unknown', seq: 20_000 });
  expect(asked()).toBeLessThanOrEqual(40);
  expect(await findNearest(fetch, 20_500, true)).toEqual({ is: 'none' });
});

const page = async (found: Promise<{ items: { seq: number }[] }>) =>
  (await found) as Awaited<ReturnType<typeof fetchFailures>>;

test('who looks further goes on where the search gave up', async () => {
  vi.mocked(fetchFailures).mockImplementation((_, query) => page(source(30_000, [25_000]).fetch(query)));
  const goTo = vi.fn();
  const { result } = renderHook(() => useJumps('r', { current: 0 }, goTo));
  act(() => result.current.jump('errors', true));
  await waitFor(() => expect(result.current.message).toBe('No later errors so far.'));
  expect(goTo).not.toHaveBeenCalled();
  act(() => result.current.lookFurther?.());
  await waitFor(() => expect(goTo).toHaveBeenCalledWith(25_000));
  expect(result.current).toMatchObject({ message: null, lookFurther: null });
});

test('a long search says that it goes on, and a second one takes its place', async () => {
  const answers: (() => void)[] = [];
  vi.mocked(fetchFailures).mockImplementation(async (_, query) => {
    await new Promise<void>((answer) => answers.push(answer));
    return page(source(9, [5]).fetch(query));
  });
  const goTo = vi.fn();
  const { result } = renderHook(() => useJumps('r', { current: 7 }, goTo));
  act(() => result.current.jump('errors', false));
  await waitFor(() => expect(result.current.message).toBe('Looking…'));
  act(() => result.current.jump('errors', true));
  await act(async () => {
    for (const answer of answers) answer();
  });
  await waitFor(() => expect(result.current.message).toBe('No later errors'));
  expect(goTo).not.toHaveBeenCalled();
});
