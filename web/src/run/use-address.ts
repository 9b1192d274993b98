import { useLocation, useNavigate } from '@tanstack/react-router';
import { type RefObject, useCallback, useEffect, useRef, useState } from 'react';
import type { Target } from './ActivityList';
import type { RunFeed } from './run-feed';
import type { RunSearch } from './search-params';

export type RunSearchChange = { [Key in keyof RunSearch]?: RunSearch[Key] | undefined };

interface Address {
  /** Where the list is to be moved. */
  target: Target | null;
  change: (next: RunSearchChange) => void;
  /** Shows a record, wherever in the run it is. */
  goTo: (seq: number) => void;
  goToLatest: () => void;
}

/**
 * What the address of a run's page says, and how it is changed. Another view and another record are steps that Back
 * takes back; what is typed and what is hidden are none.
 */
export function useAddress(feed: RunFeed, search: RunSearch, reader: RefObject<number>): Address {
  const navigate = useNavigate({ from: '/runs/$id' });
  const step = useLocation({ select: ({ state }) => state.__TSR_index });
  const [target, setTarget] = useState<Target | null>(search.seq ? { seq: search.seq } : null);
  /** The record that we asked for ourselves: any other one comes from the browser's buttons. */
  const asked = useRef(search.seq);
  const seen = useRef(search.seq);
  /** Where the reader was at steps whose address names no record. */
  const left = useRef(new Map<number, number>()).current;

  const change = useCallback(
    (next: RunSearchChange) => {
      const isStep =
        ('seq' in next && next.seq !== search.seq) || ('view' in next && next.view !== search.view);
      void navigate({
        search: (before) => {
          const merged = { ...before, ...next };
          return Object.fromEntries(
            Object.entries(merged).filter(([, value]) => value !== undefined),
          ) as RunSearch;
        },
        replace: !isStep,
      });
    },
    [navigate, search.seq, search.view],
  );
  const show = useCallback(
    (seq: number | 'latest') => {
      setTarget({ seq });
      if (seq === 'latest' ? feed.state.hasAfter : !feed.covers(seq)) {
        void feed.open(seq === 'latest' ? undefined : seq);
      }
    },
    [feed],
  );
  const goTo = useCallback(
    (seq: number) => {
      for (const later of [...left.keys()]) if (later >= step) left.delete(later);
      if (reader.current <= feed.last) left.set(step, reader.current);
      asked.current = seq;
      show(seq);
      change({ seq, view: undefined });
    },
    [feed, reader, left, step, show, change],
  );
  const goToLatest = useCallback(() => {
    asked.current = undefined;
    show('latest');
    change({ seq: undefined, view: undefined });
  }, [show, change]);
  useEffect(() => {
    // The number of the step is known before its search: only the latter tells of a move.
    if (search.seq === seen.current) return;
    seen.current = search.seq;
    if (search.seq === asked.current) return;
    asked.current = search.seq;
    show(search.seq ?? left.get(step) ?? 'latest');
  }, [search.seq, step, left, show]);
  return { target, change, goTo, goToLatest };
}
