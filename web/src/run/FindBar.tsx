import { useInfiniteQuery } from '@tanstack/react-query';
import { ChevronDown, ChevronUp, X } from 'lucide-react';
import { type RefObject, useEffect, useRef, useState } from 'react';
import { messageOf } from '../api/error';
import { searchRun } from '../api/records';
import { nearestHit } from './derive-find';

interface Props {
  id: string;
  text: string;
  /** The record that is shown. */
  at: number;
  /** Where the reader is. */
  reader: RefObject<number>;
  onChange: (text: string | undefined) => void;
  onGo: (seq: number) => void;
}

/** Hits are fetched up to here; who has more looks for something else. */
const MOST_PAGES = 10;

/** Finds in the whole run: the server looks, not the page. */
export function FindBar({ id, text, at, reader, onChange, onGo }: Props) {
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(text);
  const query = text.trim();
  const found = useInfiniteQuery({
    queryKey: ['find', id, query],
    queryFn: ({ pageParam, signal }) => searchRun(id, query, pageParam || undefined, signal),
    initialPageParam: '',
    getNextPageParam: (page, pages) => (pages.length < MOST_PAGES ? page.next : null),
    enabled: query !== '',
    staleTime: 5_000,
  });
  const { hasNextPage, isFetching, fetchNextPage, data } = found;
  useEffect(() => field.current?.focus(), []);
  useEffect(() => {
    if (hasNextPage && !isFetching) void fetchNextPage();
  }, [hasNextPage, isFetching, fetchNextPage]);
  // What is typed is looked for when the typing rests.
  useEffect(() => {
    if (typed === text) return;
    const timer = setTimeout(() => onChange(typed), 250);
    return () => clearTimeout(timer);
  }, [typed, text, onChange]);
  const hits = [...new Set(data?.pages.flatMap((page) => page.items.map((item) => item.seq)) ?? [])].sort(
    (a, b) => a - b,
  );
  const isAll =
    !data || (data.pages.every((page) => page.is_complete && page.lag === 0) && !data.pages.at(-1)?.next);
  const place = hits.indexOf(at);
  const go = (isForward: boolean) => {
    const hit = nearestHit(hits, reader.current, isForward);
    if (hit !== null) onGo(hit);
  };
  return (
    <search className="flex shrink-0 flex-wrap items-center gap-1 border-line border-b bg-raised px-3 py-1">
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
          if (event.key === 'Escape') onChange(undefined);
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
              : `${place >= 0 ? `${place + 1} of ` : ''}${hits.length}${isAll ? '' : '+'} ${hits.length === 1 ? 'record' : 'records'}`}
      </span>
      <button
        type="button"
        className="button ml-auto px-1"
        data-quiet
        aria-label="Close the search"
        onClick={() => onChange(undefined)}
      >
        <X aria-hidden className="size-4" />
      </button>
    </search>
  );
}
