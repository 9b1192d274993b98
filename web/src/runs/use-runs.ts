import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useRef } from 'react';
import { fetchRun, fetchRuns } from '../api/runs';
import { useConnection, useLiveRuns } from '../stream/browser';
import type { RunSummary } from '../wire';
import { deriveRuns, newest, queryOf } from './derive-runs';
import type { RunsSearch } from './search-params';

/** Fetches anew what may have changed while the line was lost. */
function useCatchUp(key: readonly unknown[]): void {
  const queries = useQueryClient();
  const { is } = useConnection();
  const wasLost = useRef(false);
  useEffect(() => {
    if (is !== 'open') wasLost.current = true;
    else if (wasLost.current) {
      wasLost.current = false;
      void queries.invalidateQueries({ queryKey: [key[0]] });
    }
  }, [is, queries, key[0]]);
}

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
  useCatchUp(['runs']);
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
  refetch: () => void;
} {
  const live = useLiveRuns();
  const { data, error, refetch } = useQuery({
    queryKey: ['run', id],
    queryFn: ({ signal }) => fetchRun(id, signal),
  });
  useCatchUp(['run']);
  const told = live.get(id);
  const run = data ? newest(data, told) : told;
  return { run, error, refetch: () => void refetch() };
}
