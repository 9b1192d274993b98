import { useLayoutEffect, useMemo, useRef, useState } from 'react';
import { deriveVisible, longestLine, MOST_LINES, shownLine } from './derive-lines';
import type { Span } from './derive-spans';

/** In pixels, as `code.css` has it. */
const LINE_HEIGHT = 20;
/** Longer texts render only the lines in view. */
const MOST_WHOLE = 120;
/** More lines than this scroll in a box of their own. */
const MOST_UNBOXED = 50;
/** Shorter lines fit on any screen. */
const MOST_NARROW = 40;

interface CodeLinesProps {
  lines: readonly string[];
  /** The colours, as far as they are known; a line without them is shown as it is. */
  spans: readonly (Span[] | undefined)[];
  firstLine: number | null;
  label: string;
  /** The line that is to be in view at first. */
  found?: number;
}

export function CodeLines({ lines: all, spans, firstLine, label, found }: CodeLinesProps) {
  const lines = useMemo(() => (all.length > MOST_LINES ? all.slice(0, MOST_LINES) : all), [all]);
  const box = (
    <LinesBox lines={lines} spans={spans} firstLine={firstLine} label={label} found={found ?? -1} />
  );
  if (lines === all) return box;
  return (
    <>
      {box}
      <p className="border-line border-t px-3 text-muted text-xs">
        The first {MOST_LINES.toLocaleString('en')} of {all.length.toLocaleString('en')} lines. The raw output
        has them all.
      </p>
    </>
  );
}

function LinesBox({ lines, spans, firstLine, label, found }: Required<CodeLinesProps>) {
  const scroller = useRef<HTMLElement>(null);
  const [{ top, height }, setPlace] = useState({ top: 0, height: 0 });
  const longest = useMemo(() => longestLine(lines), [lines]);
  const isTall = lines.length > MOST_UNBOXED;
  const isWindowed = lines.length > MOST_WHOLE;
  const { first, end } = isWindowed
    ? deriveVisible(top, height, LINE_HEIGHT, lines.length)
    : { first: 0, end: lines.length };
  const place = (box: HTMLElement) => setPlace({ top: box.scrollTop, height: box.clientHeight });
  useLayoutEffect(() => {
    const box = scroller.current;
    if (box && found >= 0) box.scrollTop = found * LINE_HEIGHT - box.clientHeight / 2;
  }, [found]);
  const numbers =
    firstLine === null ? null : Array.from({ length: end - first }, (_, at) => firstLine + first + at);
  const before = first * LINE_HEIGHT;
  return (
    <figure
      ref={scroller}
      className="code-box py-1"
      aria-label={label}
      // A box that scrolls must be reached by keys, to be scrolled by them.
      tabIndex={isTall || longest > MOST_NARROW ? 0 : undefined}
      data-tall={isTall || undefined}
      onScroll={(event) => place(event.currentTarget)}
    >
      <div
        className="code-lines bg-sunken"
        style={isWindowed ? { height: lines.length * LINE_HEIGHT, minWidth: `${longest + 10}ch` } : {}}
      >
        {numbers && (
          <div
            className="code-gutter"
            aria-hidden
            style={{ paddingTop: before, minWidth: `${digits(firstLine, lines)}ch` }}
          >
            {numbers.join('\n')}
          </div>
        )}
        <code className={`code-text ${numbers ? '' : 'pl-3'}`} style={{ paddingTop: before }}>
          {lines.slice(first, end).map((line, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a line is known by its number only.
            <CodeLine key={first + at} text={line} spans={spans[first + at]} />
          ))}
        </code>
      </div>
    </figure>
  );
}

/** Room for the highest number, so that nothing moves while one scrolls. */
function digits(firstLine: number | null, lines: readonly string[]): number {
  return String((firstLine ?? 1) + lines.length).length + 3;
}

function CodeLine({ text, spans }: { text: string; spans: Span[] | undefined }) {
  if (!spans) return `${shownLine(text)}\n`;
  return (
    <>
      {spans.map((span, at) =>
        span.className === '' ? (
          span.text
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: a span is known by its place only.
          <span key={at} className={span.className}>
            {span.text}
          </span>
        ),
      )}
      {'\n'}
    </>
  );
}
