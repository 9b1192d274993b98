import { QueryClient } from '@tanstack/react-query';
import { ApiError } from './error';

/** What the server refuses it refuses again; what did not reach it may. */
function isWorthRetrying(failures: number, error: Error): boolean {
  const isRefused = error instanceof ApiError && error.status >= 400 && error.status < 500;
  return !isRefused && failures < 2;
}

/** What the page has asked the server. */
export function newQueries(): QueryClient {
  // The server is mostly on this machine: it is asked whatever the browser thinks of the network.
  const networkMode = 'always';
  return new QueryClient({
    defaultOptions: {
      queries: { networkMode, retry: isWorthRetrying, refetchOnWindowFocus: false, staleTime: 30_000 },
      mutations: { networkMode },
    },
  });
}
