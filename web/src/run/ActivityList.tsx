import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown } from 'lucide-react';
import {
  type RefObject,
  useCallback,
  useContext,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { useKey } from '../keys/use-key';
import { useEstimates } from './estimate-row';
import { flattenRows, indexOfSeq } from './flatten-rows';
import { KeptState, useKept } from './kept-state';
import { FeedProblem, ListEdge, useFreshCount } from './ListEdge';
import type { Category } from './row';
import { RowView } from './rows/RowView';
import type { RunFeed } from './run-feed';
import { useFollow } from './use-follow';
import { useHighlights } from './use-highlights';
import { useRowKeys } from './use-row-keys';
import { useStayAtEnd } from './use-stay-at-end';
import { useTrueOffset } from './use-true-offset';

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

/** How far the list is with its target. */
interface Moved {
  target: Target | null;
  opened: number;
  /** Whether a person moved on from there. */
  hasLeft: boolean;
}

/** Where a reader left the list. */
interface Place {
  moved: Moved;
  isFollowing: boolean;
  seq: number;
}

const NONE: ReadonlySet<string> = new Set();
/** How near to an edge more is fetched, in rows. */
const NEAR = 24;
/** Pages that are fetched by themselves until somebody scrolls: what is hidden must not fetch a whole run. */
const MOST_PAGES = 6;

/** What happened, as a list of which only the visible part is there. */
export function ActivityList({ feed, run, hidden, target, find, reader, onLatest }: Props) {
  const { state } = feed;
  const { table } = feed.builder;
  const scroller = useRef<HTMLElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const [folded, setFolded] = useKept<ReadonlySet<string>>('activity folded', NONE);
  const kept = useContext(KeptState);
  /** Where the reader was before another view was shown. */
  const [place] = useState(() => {
    const left = kept.get('activity place') as Place | undefined;
    return left?.moved.target === target ? left : null;
  });
  const { structure } = table;
  const targetSeq = typeof target?.seq === 'number' ? target.seq : null;
  const targetRow = targetSeq === null ? undefined : table.rowOf(targetSeq);
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows are changed in place; `structure` says when.
  const flat = useMemo(
    () => flattenRows(table.top, hidden, folded, targetRow),
    [table, structure, hidden, folded, targetRow],
  );
  // Who was sent to a record stays there: earlier ones are fetched when that person scrolls.
  const isPlaceHere = place !== null && !place.isFollowing && feed.covers(place.seq);
  const pages = useRef(target === null && !isPlaceHere ? 0 : MOST_PAGES);
  const pinned = useRef<number | null>(isPlaceHere ? place.seq : null);
  /** The sizes at which the list was last moved to its end. */
  const ended = useRef('');
  // What came meanwhile may have been left out: then the end is not here.
  const startsAtEnd = place ? !isPlaceHere && !state.hasAfter : target === null || target.seq === 'latest';
  const [moves, setMoves] = useState(0);
  const moved = useRef<Moved>(place?.moved ?? { target: null, opened: 0, hasLeft: false });
  const sizeOf = useRef<() => number>(() => 0);
  const { follow, isFollowing, handlers, setFollowing } = useFollow(
    startsAtEnd,
    !state.hasAfter,
    () => sizeOf.current(),
    () => {
      // Who is at an edge already moves nothing, and still wants more.
      if (pages.current > 0) setMoves((count) => count + 1);
      pages.current = 0;
      pinned.current = null;
      moved.current.hasLeft = true;
    },
  );
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
  const begun = useRef(-1);
  if (state.status === 'ready' && flat.length > 0 && begun.current !== feed.opened) {
    // The part that is seen first is drawn first, not the beginning before it.
    begun.current = feed.opened;
    const seq = pinned.current ?? targetSeq;
    const index = seq === null ? -1 : indexOfSeq(flat, table.rowOf(seq), seq);
    if (follow.isOn) list.scrollOffset = list.getTotalSize();
    else if (index >= 0) {
      const start = list.measurementsCache[index]?.start ?? 0;
      list.scrollOffset = Math.max(0, start - (list.scrollRect?.height ?? 0) / 2);
    }
  }
  const items = list.getVirtualItems();
  sizeOf.current = () => list.getTotalSize();
  /** As it is drawn now: rows that are measured meanwhile make another one, which is drawn next. */
  const drawn = list.getTotalSize();

  // The end, or the record that somebody was sent to, stays in view whatever has grown.
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element || state.status !== 'ready') return;
    // Where the list is, without asking the browser: that would lay the page out at every render.
    const height = list.scrollRect?.height ?? 0;
    const middle = list.getVirtualItemForOffset((list.scrollOffset ?? 0) + height / 2);
    reader.current = follow.isOn ? feed.last + 1 : (flat[middle?.index ?? 0]?.row.seq ?? 0);
    if (pinned.current !== null) reader.current = pinned.current;
    const size = `${feed.opened} ${drawn} ${height}`;
    if (!follow.isOn) ended.current = '';
    if (follow.isOn) {
      // A page that was added in front, or a list that was drawn late, leaves it short of the end.
      const isThere = (list.scrollOffset ?? 0) + height >= drawn - 4;
      if (ended.current === size && isThere) return;
      ended.current = size;
      element.scrollTop = element.scrollHeight;
      follow.puts(element.scrollTop);
    } else if (pinned.current !== null) {
      const seq = pinned.current;
      const offset = list.getOffsetForIndex(indexOfSeq(flat, table.rowOf(seq), seq), 'center');
      if (offset && Math.abs(element.scrollTop - offset[0]) > 2) element.scrollTop = offset[0];
      follow.puts(element.scrollTop);
    }
  });

  useHighlights(scroller, find);
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

  // Moves to the target once it is there, and again if all is opened anew while that person is still there.
  useLayoutEffect(() => {
    if (state.status !== 'ready' || target === null) return;
    const { hasLeft, opened } = moved.current;
    if (moved.current.target === target && (hasLeft || opened === feed.opened)) return;
    const { seq } = target;
    if (seq !== 'latest' && !feed.covers(seq) && feed.opened !== moved.current.opened) {
      if (state.head >= seq) return;
    }
    moved.current = { target, opened: feed.opened, hasLeft: false };
    pages.current = seq === 'latest' ? 0 : MOST_PAGES;
    if (seq === 'latest') {
      pinned.current = null;
      setFollowing(true);
      return;
    }
    setFollowing(false);
    pinned.current = seq;
    const offset = list.getOffsetForIndex(indexOfSeq(flat, table.rowOf(seq), seq), 'center');
    if (offset && scroller.current) scroller.current.scrollTop = offset[0];
    follow.puts(scroller.current?.scrollTop ?? 0);
  }, [target, state.status, state.head, feed, feed.opened, flat, table, list, follow, setFollowing]);
  const leave = useRef(() => {});
  leave.current = () => {
    const left: Place = { moved: moved.current, isFollowing: follow.isOn, seq: reader.current };
    kept.set('activity place', left);
  };
  useLayoutEffect(() => () => leave.current(), []);

  // The same one at every render: rows that do not change keep the one they had.
  const latestFolded = useRef({ folded, setFolded });
  latestFolded.current = { folded, setFolded };
  const fold = useCallback((key: string) => {
    const next = new Set(latestFolded.current.folded);
    if (!next.delete(key)) next.add(key);
    latestFolded.current.setFolded(next);
  }, []);
  useRowKeys(scroller);
  useTrueOffset(list, scroller);
  useStayAtEnd(scroller, content, follow);
  const fresh = useFreshCount(feed, isFollowing, flat);
  return (
    <div className="relative h-full">
      <h2 className="sr-only">Activity</h2>
      <section
        ref={scroller}
        id="activity"
        aria-label="Activity"
        tabIndex={0}
        className="h-full overflow-y-auto overflow-x-hidden sm:[scrollbar-gutter:stable_both-edges] focus-visible:-outline-offset-2"
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
        <div ref={content} className="relative mx-auto w-full max-w-4xl" style={{ height: drawn }}>
          <ListEdge feed={feed} side="before" />
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
                    found={row === targetRow ? (find ?? '') : ''}
                    isFolded={folded.has(row.key)}
                    onFold={fold}
                  />
                </li>
              );
            })}
          </ol>
          <ListEdge feed={feed} side="after" />
        </div>
      </section>
      <FeedProblem feed={feed} />
      {!isFollowing && state.status === 'ready' && (
        <button
          type="button"
          data-primary
          className="button absolute right-4 bottom-4 shadow-pop"
          onClick={onLatest}
        >
          <ArrowDown aria-hidden className="size-4" />
          Jump to latest{fresh > 0 ? ` (${fresh} new)` : state.hasAfter ? ' (more)' : ''}
        </button>
      )}
    </div>
  );
}
