import { useInfiniteQuery } from '@tanstack/react-query';
import { ChevronDown, ChevronUp, X } from 'lucide-react';
import { type RefObject, useEffect, useRef, useState } from 'react';
import { messageOf } from '../api/error';
import { searchRun } from '../api/records';
import { useKey } from '../keys/use-key';
import { COLUMN } from './column';
import { nearestHit } from './derive-find';

interface Props {
  id: string;
  text: string;
  /** The record that is shown. */
  at: number;
  /** Whether more records come: then there may be more hits. */
  isLive: boolean;
  /** Where the reader is. */
  reader: RefObject<number>;
  onChange: (text: string | undefined) => void;
  onGo: (seq: number) => void;
}

/** So many pages of hits are fetched, the newest first; older ones when somebody asks. */
const MOST_PAGES = 10;
/** How often a run that goes on is looked through anew. */
const AGAIN_MS = 5_000;

/** Finds in the whole run: the server looks, not the page. */
export function FindBar({ id, text, at, isLive, reader, onChange, onGo }: Props) {
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(text);
  const query = text.trim();
  const [wanted, setWanted] = useState({ query, pages: MOST_PAGES });
  const most = wanted.query === query ? wanted.pages : MOST_PAGES;
  // A page that shows a run is rendered all the time; that must not begin the waiting anew.
  const tell = useRef(onChange);
  useEffect(() => {
    tell.current = onChange;
  });
  const found = useInfiniteQuery({
    queryKey: ['find', id, query],
    queryFn: ({ pageParam, signal }) => searchRun(id, query, pageParam || undefined, signal),
    initialPageParam: '',
    getNextPageParam: (page, pages) => (pages.length < most ? page.next : null),
    enabled: query !== '',
    staleTime: AGAIN_MS,
    refetchInterval: ({ state }) =>
      isLive || state.data?.pages.some((page) => page.lag > 0) ? AGAIN_MS : false,
  });
  const { hasNextPage, isFetching, isError, fetchNextPage, refetch, data } = found;
  useEffect(() => field.current?.focus(), []);
  useKey('find', () => field.current?.select());
  // biome-ignore lint/correctness/useExhaustiveDependencies: a page that comes at once is seen by the data alone.
  useEffect(() => {
    // A page that cannot be had is not asked for without end.
    if (hasNextPage && !isFetching && !isError) void fetchNextPage();
  }, [data, hasNextPage, isFetching, isError, fetchNextPage]);
  // The end of the run may have hits, too.
  const wasLive = useRef(isLive);
  useEffect(() => {
    if (wasLive.current && !isLive) void refetch();
    wasLive.current = isLive;
  }, [isLive, refetch]);
  // What is typed is looked for when the typing rests.
  useEffect(() => {
    if (typed === text) return;
    const timer = setTimeout(() => tell.current(typed), 250);
    return () => clearTimeout(timer);
  }, [typed, text]);
  const hits = [...new Set(data?.pages.flatMap((page) => page.items.map((item) => item.seq)) ?? [])].sort(
    (a, b) => a - b,
  );
  const isAll =
    !data || (data.pages.every((page) => page.is_complete && page.lag === 0) && !data.pages.at(-1)?.next);
  const hasOlder = !hasNextPage && Boolean(data?.pages.at(-1)?.next);
  const place = hits.indexOf(at);
  const go = (isForward: boolean) => {
    const hit = nearestHit(hits, reader.current, isForward);
    if (hit !== null) onGo(hit);
  };
  return (
    <search className="shrink-0 border-line border-b bg-raised">
      <div className={`${COLUMN} flex flex-wrap items-center gap-1 py-1`}>
        <input
          ref={field}
          type="search"
          className="field min-w-0 flex-1 sm:max-w-80"
          aria-label="Find in this run"
          placeholder="Find in this run"
          value={typed}
          maxLength={200}
          onChange={(event) => setTyped(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') {
              onChange(undefined);
              document.getElementById('activity')?.focus();
            }
            if (event.key !== 'Enter') return;
            if (typed !== text) onChange(typed);
            else go(!event.shiftKey);
          }}
        />
        <button
          type="button"
          className="button px-1"
          aria-label="Previous hit"
          disabled={hits.length === 0}
          onClick={() => go(false)}
        >
          <ChevronUp aria-hidden className="size-4" />
        </button>
        <button
          type="button"
          className="button px-1"
          aria-label="Next hit"
          disabled={hits.length === 0}
          onClick={() => go(true)}
        >
          <ChevronDown aria-hidden className="size-4" />
        </button>
        <span role="status" className="min-w-20 text-muted text-xs tabular-nums">
          {query === ''
            ? ''
            : found.isError
              ? messageOf(found.error)
              : isFetching && hits.length === 0
                ? 'Looking…'
                : `${place >= 0 ? `${place + 1} of ` : ''}${hasOlder ? 'the newest ' : ''}${hits.length.toLocaleString('en')}${isAll || hasOlder ? '' : '+'} ${hits.length === 1 ? 'record' : 'records'}`}
        </span>
        {hasOlder && (
          <button
            type="button"
            className="text-accent text-xs underline"
            onClick={() => setWanted({ query, pages: most + MOST_PAGES })}
          >
            Look for older ones
          </button>
        )}
        <button
          type="button"
          className="button ml-auto px-1"
          data-quiet
          aria-label="Close the search"
          onClick={() => onChange(undefined)}
        >
          <X aria-hidden className="size-4" />
        </button>
      </div>
    </search>
  );
}
