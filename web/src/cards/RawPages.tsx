import { useEffect, useRef, useState } from 'react';
import { messageOf } from '../api/error';
import { formatBytes } from '../layout/format';
import type { RawRef } from '../run/tool-call';
import { loadPiece, type Piece } from './load-raw';
import { OutputText } from './OutputText';

interface Props {
  run: string;
  raw: RawRef;
  why: string;
  /** Whether the first part is loaded without being asked for. */
  isOpen?: boolean;
}

/** A raw line that is too long to be shown at once, a megabyte at a time. */
export function RawPages({ run, raw, why, isOpen = false }: Props) {
  const [page, setPage] = useState<(Piece & { start: number }) | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const end = raw.offset + raw.length;
  const ended = useRef<AbortController>(null);
  const load = async (start: number) => {
    ended.current?.abort();
    const end = new AbortController();
    ended.current = end;
    try {
      const piece = await loadPiece(run, raw, start, end.signal);
      if (end.signal.aborted) return;
      setPage({ ...piece, start });
      setProblem(null);
    } catch (error) {
      if (!end.signal.aborted) setProblem(messageOf(error));
    }
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when it is there.
  useEffect(() => {
    if (isOpen) void load(raw.offset);
    return () => ended.current?.abort();
  }, []);
  const next = page?.next ?? raw.offset;
  return (
    <div className="flex flex-col gap-1 text-xs">
      <p className="text-muted">{why}</p>
      {page && (
        // JSON has no line breaks: text without them cannot be shown, so it gets some.
        <OutputText
          name={`${raw.iteration}/${raw.attempt}/${raw.offset}`}
          text={page.text.replaceAll('\\n', '\\n\n')}
          head={Number.MAX_SAFE_INTEGER}
          tail={0}
          label="Raw output"
        />
      )}
      <div className="flex flex-wrap items-center gap-2">
        <button type="button" className="button" disabled={next >= end} onClick={() => void load(next)}>
          {page ? 'Next part' : 'First part'}
        </button>
        {page && page.start > raw.offset && (
          <button type="button" className="button" onClick={() => void load(raw.offset)}>
            From the start
          </button>
        )}
        <span className="text-muted">
          {page && `${formatBytes(page.start - raw.offset)} to ${formatBytes(page.next - raw.offset)} of `}
          {formatBytes(raw.length)}
        </span>
        {problem && <span className="text-bad">{problem} Try again.</span>}
      </div>
    </div>
  );
}
