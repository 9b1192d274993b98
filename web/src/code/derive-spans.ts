/** A piece of a line in one colour; `className` is empty for the usual one. */
export interface Span {
  text: string;
  className: string;
}

/** A range of a line that is marked, `from` up to, but without, `to`. */
export interface Mark {
  from: number;
  to: number;
}

export interface MarkedSpan extends Span {
  isMarked: boolean;
}

/** The colour of a token as the theme names it, as a class. */
export function classOfColour(colour: string | undefined): string {
  const name = /^var\(--shiki-token-([a-z-]+)\)$/.exec(colour ?? '')?.[1];
  return name ? `tok-${name}` : '';
}

/** Neighbours of one colour become one; blanks take the colour of what is before them. */
export function mergeSpans(spans: Iterable<Span>): Span[] {
  const merged: Span[] = [];
  for (const span of spans) {
    const last = merged.at(-1);
    if (last && (last.className === span.className || span.text.trim() === '')) last.text += span.text;
    else if (span.text !== '') merged.push({ ...span });
  }
  return merged;
}

/** Cuts the spans of a line at the edges of its marks. Marks are in order and do not overlap. */
export function markSpans(spans: readonly Span[], marks: readonly Mark[]): MarkedSpan[] {
  if (marks.length === 0) return spans.map((span) => ({ ...span, isMarked: false }));
  const result: MarkedSpan[] = [];
  let at = 0;
  let next = 0;
  for (const { text, className } of spans) {
    let from = 0;
    while (from < text.length) {
      while (next < marks.length && (marks[next]?.to ?? 0) <= at + from) next += 1;
      const mark = marks[next];
      const isMarked = mark !== undefined && mark.from <= at + from;
      const edge = mark === undefined ? text.length : (isMarked ? mark.to : mark.from) - at;
      const to = Math.max(from + 1, Math.min(text.length, edge));
      result.push({ text: text.slice(from, to), className, isMarked });
      from = to;
    }
    at += text.length;
  }
  return result;
}
