import { useRef } from 'react';
import type { FlatRow } from './flatten-rows';
import type { RunFeed } from './run-feed';

/** How many rows have come since the reader left the end, or came elsewhere. */
export function useFreshCount(feed: RunFeed, isFollowing: boolean, flat: readonly FlatRow[]): number {
  const left = useRef({ opened: -1, head: 0 });
  const { status, head } = feed.state;
  if (isFollowing || status !== 'ready' || left.current.opened !== feed.opened) {
    left.current = { opened: status === 'ready' ? feed.opened : -1, head };
    return 0;
  }
  let count = 0;
  for (let index = flat.length - 1; index >= 0; index -= 1) {
    if ((flat[index]?.row.seq ?? 0) <= left.current.head) break;
    count += 1;
  }
  return count;
}

/** What went wrong last. It lies over the list, so that nothing moves. */
export function FeedProblem({ feed }: { feed: RunFeed }) {
  const { status, problem } = feed.state;
  if (status !== 'ready' || problem === null) return null;
  return (
    <div
      role="status"
      className="absolute inset-x-3 top-1 mx-auto flex max-w-xl items-center gap-3 rounded-lg border border-bad bg-bg px-3 py-1 shadow-pop"
    >
      <span className="min-w-0 flex-1 break-words text-bad">{problem}</span>
      <button type="button" className="button" onClick={() => feed.retry()}>
        Try again
      </button>
    </div>
  );
}

/** Where more can be had than the list holds. */
export function ListEdge({ feed, side }: { feed: RunFeed; side: 'before' | 'after' }) {
  const { state } = feed;
  const hasMore = side === 'before' ? state.hasBefore : state.hasAfter;
  if (!hasMore || state.status !== 'ready') return null;
  const load = () => void (side === 'before' ? feed.loadBefore() : feed.loadAfter());
  return (
    <div
      className={`absolute inset-x-0 flex h-9 items-center justify-center gap-2 text-muted text-xs ${side === 'before' ? 'top-0' : 'bottom-4'}`}
    >
      <button type="button" className="underline" disabled={state.loading === side} onClick={load}>
        {state.loading === side ? 'Loading…' : side === 'before' ? 'Show earlier' : 'Show later'}
      </button>
    </div>
  );
}
