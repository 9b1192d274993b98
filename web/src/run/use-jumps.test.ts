import { act, cleanup, renderHook, waitFor } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { fetchRecords, type RecordQuery } from '../api/records';
import type { RunRecord } from '../wire';
import { agent } from './records-for-tests';
import { findNearest, useJumps } from './use-jumps';

vi.mock('../api/records', () => ({ fetchRecords: vi.fn() }));
afterEach(cleanup);

const call = (seq: number, status: string) =>
  agent(seq, 'tool_finished', { item: `${seq}`, status, output: '' });

const calls = (length: number, failed = 0) =>
  Array.from({ length }, (_, index) => call(index + 1, index + 1 === failed ? 'failed' : 'completed'));

function source(records: RunRecord[]) {
  let asked = 0;
  const fetch = async ({ after, before, limit = 200 }: RecordQuery) => {
    asked += 1;
    const found = records.filter((each) => each.seq > (after ?? 0) && each.seq < (before ?? 1e9));
    const page = after === undefined ? found.slice(-limit) : found.slice(0, limit);
    const more = found.length > page.length;
    return {
      records: page,
      next_after: more ? (page.at(-1)?.seq ?? null) : null,
      next_before: more ? (page[0]?.seq ?? null) : null,
    };
  };
  return { fetch, asked: () => asked };
}

test('the nearest error is found over several pages, in both directions', async () => {
  const { fetch } = source(calls(900, 700));
  expect(await findNearest(fetch, 'errors', 3, true)).toEqual({ is: 'found', seq: 700 });
  expect(await findNearest(fetch, 'errors', 900, false)).toEqual({ is: 'found', seq: 700 });
  expect(await findNearest(fetch, 'errors', 700, true)).toEqual({ is: 'none' });
});

test('a call without changes is no edit', async () => {
  expect(await findNearest(source([call(1, 'completed')]).fetch, 'edits', 0, true)).toEqual({ is: 'none' });
});

test('a search ends though the run does not, and does not say that there is nothing', async () => {
  const { fetch, asked } = source(calls(40_000));
  const first = await findNearest(fetch, 'errors', 0, true);
  expect(first).toEqual({ is: 'unknown', seq: 19_550 });
  expect(asked()).toBeLessThanOrEqual(40);
  expect(await findNearest(fetch, 'errors', 19_550, true)).toEqual({ is: 'unknown', seq: 39_100 });
  expect(await findNearest(fetch, 'errors', 39_100, true)).toEqual({ is: 'none' });
});

test('who looks further goes on where the search gave up', async () => {
  const records = calls(30_000, 25_000);
  vi.mocked(fetchRecords).mockImplementation(async (_, query) => ({
    epoch: '',
    head_seq: 30_000,
    ...(await source(records).fetch(query)),
  }));
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
  vi.mocked(fetchRecords).mockImplementation(async (_, query) => {
    await new Promise<void>((answer) => answers.push(answer));
    return { epoch: '', head_seq: 9, ...(await source(calls(9, 5)).fetch(query)) };
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
