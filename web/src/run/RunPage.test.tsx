import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from '@tanstack/react-router';
import { act, cleanup, render, screen } from '@testing-library/react';
import { useSyncExternalStore } from 'react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { problem, serve } from '../steer/page-for-tests';
import type { RunListener } from '../stream/run-watch';
import { RunPage } from './RunPage';
import { parseRunSearch } from './search-params';

const fake = vi.hoisted(() => ({
  watchers: [] as RunListener[],
  connection: { is: 'open' },
  listeners: new Set<() => void>(),
}));

vi.mock('../stream/browser', () => {
  const runs = new Map();
  const inbox = { count: 0, approvals: [] };
  const subscribe = (listener: () => void) => {
    fake.listeners.add(listener);
    return () => fake.listeners.delete(listener);
  };
  return {
    stream: {
      watchRun: (_run: string, _after: number, _epoch: string, listener: RunListener) => {
        fake.watchers.push(listener);
        return () => {};
      },
    },
    useConnection: () => useSyncExternalStore(subscribe, () => fake.connection),
    useLiveRuns: () => runs,
    useInbox: () => inbox,
  };
});

const run = {
  id: 'r',
  epoch: 'e',
  kind: 'loop',
  workspace: '/w',
  backend: 'demo',
  display_name: 'Demo',
  title: 'Fix the parser',
  tags: [],
  started_at: '2026-11-16T00:00:00Z',
  ended_at: '2026-11-16T00:01:00Z',
  updated_at: '2026-11-16T00:01:00Z',
  activity: { state: 'ended', reason: { reason: 'completed' } },
  reason: 'completed',
  iteration: 1,
  attempt: 1,
  totals: { tokens: {}, turns: 1, duration_ms: 5, cost_micro_usd: 0 },
  session_ids: [],
  pending: 0,
  errors: 0,
  head_seq: 0,
};
const records = { epoch: 'e', head_seq: 0, items: [], next_after: null, next_before: null };

async function open(answers: Record<string, () => unknown>) {
  const asked = serve(answers);
  const root = createRootRoute();
  const page = createRoute({
    getParentRoute: () => root,
    path: '/runs/$id',
    validateSearch: parseRunSearch,
    component: RunPage,
  });
  const history = createMemoryHistory({ initialEntries: ['/runs/r'] });
  const router = createRouter({ routeTree: root.addChildren([page]), history });
  await router.load();
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  render(
    <QueryClientProvider client={queries}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  return { asked, queries };
}

const served = () => ({ 'GET /api/v1/runs/r': () => run, 'GET /api/v1/runs/r/records': () => records });

beforeEach(() => {
  fake.watchers = [];
  fake.connection = { is: 'open' };
});
afterEach(cleanup);

const change = (to: object) =>
  act(async () => {
    Object.assign(fake, to);
    for (const listener of fake.listeners) listener();
  });

test('a run that is deleted while it is watched says so in words, and is not asked for again', async () => {
  const { asked } = await open(served());
  await screen.findByText('Fix the parser');
  await vi.waitFor(() => expect(fake.watchers.length).toBeGreaterThan(0));
  await act(async () => {
    for (const watcher of fake.watchers) watcher.onDeleted();
  });
  expect(screen.getByRole('heading').textContent).toBe('This run was deleted');
  expect(screen.getByText(/What it cost is still counted/)).toBeTruthy();
  expect(screen.getByRole('link', { name: 'Show all runs' })).toBeTruthy();
  const records = () => asked.filter((what) => what.endsWith('/records')).length;
  const before = records();
  await change({ connection: { is: 'waiting' } });
  await change({ connection: { is: 'open' } });
  expect(records()).toBe(before);
  expect(screen.getByRole('heading').textContent).toBe('This run was deleted');
});

test('a run that was deleted while there was no connection says so as well', async () => {
  const answers: Record<string, () => unknown> = served();
  const { queries } = await open(answers);
  await screen.findByText('Fix the parser');
  answers['GET /api/v1/runs/r'] = () => problem(404, 'run_not_found', 'no run `r`');
  await act(() => queries.invalidateQueries({ queryKey: ['run', 'r'] }));
  expect(await screen.findByRole('heading', { name: 'This run was deleted' })).toBeTruthy();
});

test('a run that never was there is not called deleted', async () => {
  await open({ 'GET /api/v1/runs/r': () => problem(404, 'run_not_found', 'no run `r`') });
  expect(await screen.findByRole('heading', { name: 'There is no such run' })).toBeTruthy();
});
