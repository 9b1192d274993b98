import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { ApiError } from '../api/error';
import { fetchRun, fetchRuns } from '../api/runs';
import { useLiveRuns } from '../stream/browser';
import type { RunSummary } from '../wire';
import { deriveRuns, newest, queryOf } from './derive-runs';
import type { RunsSearch } from './search-params';

/** The runs that the filters let through, always as they are now. */
export function useRuns(search: RunsSearch) {
  const query = queryOf(search);
  const live = useLiveRuns();
  const pages = useInfiniteQuery({
    queryKey: ['runs', query],
    queryFn: ({ pageParam, signal }) =>
      fetchRuns({ ...query, limit: 50, ...(pageParam && { cursor: pageParam }) }, signal),
    initialPageParam: '',
    getNextPageParam: (page) => page.next,
  });
  const { data } = pages;
  const runs = useMemo(
    () => deriveRuns(data?.pages.flatMap((page) => page.items) ?? [], live, search),
    [data, live, search],
  );
  return { runs, pages };
}

/** One run, always as it is now. */
export function useRun(id: string): {
  run: RunSummary | undefined;
  error: Error | null;
  /** Whether it was there and is no more. */
  isDeleted: boolean;
  refetch: () => void;
} {
  const live = useLiveRuns();
  const { data, error, refetch } = useQuery({
    queryKey: ['run', id],
    queryFn: ({ signal }) => fetchRun(id, signal),
  });
  const told = live.get(id);
  const run = data ? newest(data, told) : told;
  const isDeleted = data !== undefined && error instanceof ApiError && error.status === 404;
  return { run, error, isDeleted, refetch: () => void refetch() };
}
