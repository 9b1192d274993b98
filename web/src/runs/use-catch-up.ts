import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { stream, useConnection, useLeftRuns } from '../stream/browser';

/**
 * Fetches anew what may have changed unseen: everything after a loss of the line, and runs that the server no longer
 * tells of. It stands in the frame, so that the feed of runs is not asked for anew with each page.
 */
export function useCatchUp(): void {
  const queries = useQueryClient();
  const { is } = useConnection();
  const left = useLeftRuns();
  const wasOpen = useRef(false);
  const wasLost = useRef(false);
  useEffect(() => {
    if (is === 'waiting' || is === 'logged_out') wasLost.current = true;
    if (is !== 'open') return;
    // A run may have ended between what was fetched first and what is told first.
    if (!wasOpen.current && !wasLost.current) {
      for (const key of ['runs', 'run']) void queries.invalidateQueries({ queryKey: [key] });
    }
    if (wasLost.current) void queries.invalidateQueries();
    wasOpen.current = true;
    wasLost.current = false;
  }, [is, queries]);
  useEffect(() => {
    if (is !== 'open' || left.size === 0) return;
    const keys = [['runs'], ...[...left].map((id) => ['run', id])];
    const fetched = keys.map((queryKey) =>
      queries.invalidateQueries({ queryKey, refetchType: 'all' }, { throwOnError: true }),
    );
    // One that is no more is an answer, too; who gets none asks again with the next connection.
    void Promise.allSettled(fetched).then(([runs]) => {
      if (runs?.status === 'fulfilled') stream.letGo(left);
    });
  }, [is, left, queries]);
}
