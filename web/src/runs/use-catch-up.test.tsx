import { QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query';
import { act, cleanup, render, screen, waitFor } from '@testing-library/react';
import { useSyncExternalStore } from 'react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { useCatchUp } from './use-catch-up';

const fake = vi.hoisted(() => ({
  connection: { is: 'connecting' },
  left: new Set<string>() as ReadonlySet<string>,
  gone: [] as string[],
  listeners: new Set<() => void>(),
}));

vi.mock('../stream/browser', () => {
  const subscribe = (listener: () => void) => {
    fake.listeners.add(listener);
    return () => fake.listeners.delete(listener);
  };
  return {
    stream: { letGo: (ids: Iterable<string>) => fake.gone.push(...ids) },
    useConnection: () => useSyncExternalStore(subscribe, () => fake.connection),
    useLeftRuns: () => useSyncExternalStore(subscribe, () => fake.left),
  };
});

const fetched: string[] = [];
let isDown = false;

function Frame() {
  useCatchUp();
  const ask = (key: string[]) => ({
    queryKey: key,
    queryFn: async () => {
      if (isDown) throw new Error('gone');
      return fetched.push(key.join(' '));
    },
  });
  useQuery(ask(['runs']));
  useQuery(ask(['run', 'a']));
  useQuery(ask(['backends']));
  return <p>here</p>;
}

const change = (to: Partial<typeof fake>) =>
  act(async () => {
    Object.assign(fake, to);
    for (const listener of fake.listeners) listener();
  });

async function page() {
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false, staleTime: 30_000 } } });
  render(
    <QueryClientProvider client={queries}>
      <Frame />
    </QueryClientProvider>,
  );
  await screen.findByText('here');
  await waitFor(() => expect(fetched).toHaveLength(3));
  await change({ connection: { is: 'open' } });
  await waitFor(() => expect(fetched).toHaveLength(5));
  fetched.length = 0;
}

beforeEach(() => {
  Object.assign(fake, { connection: { is: 'connecting' }, left: new Set(), gone: [] });
  fetched.length = 0;
  isDown = false;
});
afterEach(cleanup);

test('everything is fetched anew when the line is back', async () => {
  await page();
  await change({ connection: { is: 'waiting' } });
  await change({ connection: { is: 'connecting' } });
  expect(fetched).toEqual([]);
  await change({ connection: { is: 'open' } });
  await waitFor(() => expect(fetched.sort()).toEqual(['backends', 'run a', 'runs']));
});

test('runs that the server no longer tells of are asked about, and then let go', async () => {
  await page();
  await change({ left: new Set(['a']) });
  await waitFor(() => expect(fake.gone).toEqual(['a']));
  expect(fetched.sort()).toEqual(['run a', 'runs']);
});

test('what is known of a run is kept while nobody answers', async () => {
  await page();
  isDown = true;
  await change({ left: new Set(['a']) });
  expect(fake.gone).toEqual([]);
  isDown = false;
  await change({ connection: { is: 'waiting' } });
  await change({ connection: { is: 'open' } });
  await waitFor(() => expect(fake.gone).toEqual(['a']));
});
