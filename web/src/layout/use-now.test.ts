import { act, cleanup, renderHook } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { useBrowserNow, useNow } from './use-now';

const clock = vi.hoisted(() => ({ offset: 0 }));
vi.mock('../api/server-clock', () => ({ serverClock: clock }));

beforeEach(() => {
  vi.useFakeTimers();
  vi.setSystemTime(1_000_000_000);
  clock.offset = 0;
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

test('the time begins where it is, and goes on each second', () => {
  const { result } = renderHook(() => useBrowserNow(true));
  expect(result.current).toBe(1_000_000_000);
  act(() => vi.advanceTimersByTime(2_000));
  expect(result.current).toBe(1_000_002_000);
});

test('what happens in a run is counted by the server’s clock', () => {
  clock.offset = -90_000;
  const { result } = renderHook(() => useNow(true));
  expect(result.current).toBe(1_000_000_000 - 90_000);
});
