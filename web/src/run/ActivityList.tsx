import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown } from 'lucide-react';
import { type RefObject, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useKey } from '../keys/use-key';
import { useEstimates } from './estimate-row';
import { type FlatRow, flattenRows, indexOfSeq } from './flatten-rows';
import type { Category } from './row';
import { RowView } from './rows/RowView';
import type { RunFeed } from './run-feed';
import { useFollow } from './use-follow';
import { useHighlights } from './use-highlights';

/** Where the list is to be moved; a new object each time. */
export interface Target {
  seq: number | 'latest';
}

interface Props {
  feed: RunFeed;
  run: string;
  hidden: ReadonlySet<Category>;
  target: Target | null;
  find: string | undefined;
  /** Told where the reader is. */
  reader: RefObject<number>;
  onLatest: () => void;
}

/** How near to an edge more is fetched, in rows. */
const NEAR = 24;
/** Pages that are fetched by themselves until somebody scrolls: what is hidden must not fetch a whole run. */
const MOST_PAGES = 6;

/** What happened, as a list of which only the visible part is there. */
export function ActivityList({ feed, run, hidden, target, find, reader, onLatest }: Props) {
  const { state } = feed;
  const { table } = feed.builder;
  const scroller = useRef<HTMLElement>(null);
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const { structure } = table;
  const targetSeq = typeof target?.seq === 'number' ? target.seq : null;
  const targetRow = targetSeq === null ? undefined : table.rowOf(targetSeq);
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows are changed in place; `structure` says when.
  const flat = useMemo(
    () => flattenRows(table.top, hidden, folded, targetRow),
    [table, structure, hidden, folded, targetRow],
  );
  // Who was sent to a record stays there: earlier ones are fetched when that person scrolls.
  const pages = useRef(target === null ? 0 : MOST_PAGES);
  const pinned = useRef<number | null>(null);
  /** The sizes at which the list was last moved to its end. */
  const ended = useRef('');
  const startsAtEnd = target === null || target.seq === 'latest';
  const [moves, setMoves] = useState(0);
  const { follow, isFollowing, handlers, setFollowing } = useFollow(startsAtEnd, !state.hasAfter, () => {
    // Who is at an edge already moves nothing, and still wants more.
    if (pages.current > 0) setMoves((count) => count + 1);
    pages.current = 0;
    pinned.current = null;
  });
  feed.follow(isFollowing);

  const list = useVirtualizer({
    count: flat.length,
    getScrollElement: () => scroller.current,
    estimateSize: useEstimates(flat),
    getItemKey: useCallback((index: number) => flat[index]?.row.key ?? index, [flat]),
    overscan: 6,
    anchorTo: 'end',
    scrollEndThreshold: 2,
    paddingStart: 36,
    paddingEnd: 56,
  });
  const items = list.getVirtualItems();

  // The end, or the record that somebody was sent to, stays in view whatever has grown.
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element || state.status !== 'ready') return;
    // Where the list is, without asking the browser: that would lay the page out at every render.
    const height = list.scrollRect?.height ?? 0;
    const middle = list.getVirtualItemForOffset((list.scrollOffset ?? 0) + height / 2);
    reader.current = follow.isOn ? feed.last + 1 : (flat[middle?.index ?? 0]?.row.seq ?? 0);
    if (pinned.current !== null) reader.current = pinned.current;
    const size = `${feed.opened} ${list.getTotalSize()} ${height}`;
    if (!follow.isOn) ended.current = '';
    if (follow.isOn) {
      if (ended.current === size) return;
      ended.current = size;
      element.scrollTop = element.scrollHeight;
    } else if (pinned.current !== null) {
      const seq = pinned.current;
      const place = list.getOffsetForIndex(indexOfSeq(flat, table.rowOf(seq), seq), 'center');
      if (place && Math.abs(element.scrollTop - place[0]) > 2) element.scrollTop = place[0];
    }
  });

  useHighlights(scroller, find, `${feed.version} ${list.range?.startIndex} ${list.range?.endIndex}`);
  useKey('raw', () => {
    const row =
      document.activeElement?.closest('.row') ?? scroller.current?.querySelector('.row[data-target]');
    row?.querySelector<HTMLElement>('[aria-label="Raw output"]')?.click();
  });

  const firstIndex = items[0]?.index ?? 0;
  const lastIndex = items.at(-1)?.index ?? 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `moves` says that a person wants more.
  useEffect(() => {
    if (state.status !== 'ready' || state.problem || pages.current >= MOST_PAGES) return;
    const wantsBefore = state.hasBefore && firstIndex < NEAR;
    const wantsAfter = state.hasAfter && lastIndex > flat.length - NEAR;
    if (!wantsBefore && !wantsAfter) return;
    if (state.loading) return;
    pages.current += 1;
    void (wantsBefore ? feed.loadBefore() : feed.loadAfter());
  }, [feed, state, firstIndex, lastIndex, flat.length, moves]);

  // Moves to the target once it is there.
  const moved = useRef<{ target: Target | null; opened: number }>({ target: null, opened: 0 });
  useLayoutEffect(() => {
    if (state.status !== 'ready' || target === null) return;
    if (moved.current.target === target && moved.current.opened === feed.opened) return;
    const { seq } = target;
    if (seq !== 'latest' && !feed.covers(seq) && feed.opened !== moved.current.opened) {
      if (state.head >= seq) return;
    }
    moved.current = { target, opened: feed.opened };
    pages.current = seq === 'latest' ? 0 : MOST_PAGES;
    if (seq === 'latest') {
      pinned.current = null;
      setFollowing(true);
      return;
    }
    setFollowing(false);
    pinned.current = seq;
    list.scrollToIndex(indexOfSeq(flat, table.rowOf(seq), seq), { align: 'center' });
  }, [target, state.status, state.head, feed, feed.opened, flat, table, list, setFollowing]);

  // The same one at every render: rows that do not change keep the one they had.
  const fold = useCallback((key: string) => {
    setFolded((before) => {
      const next = new Set(before);
      if (!next.delete(key)) next.add(key);
      return next;
    });
  }, []);
  const fresh = useFreshCount(feed, isFollowing, flat);
  return (
    <div className="relative h-full">
      <h2 className="sr-only">Activity</h2>
      <section
        ref={scroller}
        id="activity"
        aria-label="Activity"
        tabIndex={0}
        className="h-full overflow-y-auto overflow-x-hidden focus-visible:-outline-offset-2"
        {...handlers}
      >
        {state.status === 'loading' && flat.length === 0 && (
          <p role="status" className="p-4 text-muted">
            Loading the activity…
          </p>
        )}
        {state.status === 'ready' && flat.length === 0 && !state.hasBefore && (
          <p className="p-4 text-muted">
            {table.top.length > 0 ? 'Everything so far is hidden: see “Show”.' : 'Nothing has happened yet.'}
          </p>
        )}
        <div className="relative mx-auto w-full max-w-4xl" style={{ height: list.getTotalSize() }}>
          <Edge feed={feed} side="before" />
          <ol>
            {items.map((item) => {
              const entry = flat[item.index];
              if (!entry) return null;
              const { row, depth } = entry;
              return (
                <li
                  key={item.key}
                  ref={list.measureElement}
                  data-index={item.index}
                  className="absolute top-0 left-0 w-full [contain:layout_style]"
                  style={{ transform: `translateY(${item.start}px)` }}
                >
                  <RowView
                    row={row}
                    version={row.version}
                    depth={depth}
                    run={run}
                    sent={row === targetRow ? target : null}
                    isFolded={folded.has(row.key)}
                    onFold={fold}
                  />
                </li>
              );
            })}
          </ol>
          <Edge feed={feed} side="after" />
        </div>
      </section>
      {!isFollowing && state.status === 'ready' && (
        <button
          type="button"
          data-primary
          className="button -translate-x-1/2 absolute bottom-4 left-1/2 shadow-pop"
          onClick={onLatest}
        >
          <ArrowDown aria-hidden className="size-4" />
          Jump to latest{fresh > 0 ? ` (${fresh} new)` : state.hasAfter ? ' (more)' : ''}
        </button>
      )}
    </div>
  );
}

/** How many rows have come since the reader left the end, or came elsewhere. */
function useFreshCount(feed: RunFeed, isFollowing: boolean, flat: readonly FlatRow[]): number {
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

function Edge({ feed, side }: { feed: RunFeed; side: 'before' | 'after' }) {
  const { state } = feed;
  const hasMore = side === 'before' ? state.hasBefore : state.hasAfter;
  if (!hasMore || state.status !== 'ready') return null;
  const load = () => void (side === 'before' ? feed.loadBefore() : feed.loadAfter());
  return (
    <div
      className={`absolute inset-x-0 flex h-9 items-center justify-center gap-2 text-muted text-xs ${side === 'before' ? 'top-0' : 'bottom-4'}`}
    >
      {state.problem ? <span className="truncate text-bad">{state.problem}</span> : null}
      <button type="button" className="underline" disabled={state.loading === side} onClick={load}>
        {state.loading === side ? 'Loading…' : side === 'before' ? 'Show earlier' : 'Show later'}
      </button>
    </div>
  );
}
