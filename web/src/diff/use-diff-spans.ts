import { useMemo } from 'react';
import { languageOfPath } from '../code/derive-language';
import { shownLine } from '../code/derive-lines';
import { type MarkedSpan, markSpans, type Span } from '../code/derive-spans';
import { useSpans } from '../code/use-spans';
import type { DiffLine, DiffRow } from './derive-diff';

/** The lines of each side, and where each row is in its side. */
export function deriveSides(rows: readonly DiffRow[]): {
  old: string[];
  now: string[];
  place: Map<DiffLine, number>;
} {
  const old: string[] = [];
  const now: string[] = [];
  const place = new Map<DiffLine, number>();
  for (const row of rows) {
    if (row.kind === 'removed') place.set(row, old.push(row.text) - 1);
    else if (row.kind === 'added') place.set(row, now.push(row.text) - 1);
    else if (row.kind === 'context') {
      old.push(row.text);
      place.set(row, now.push(row.text) - 1);
    }
  }
  return { old, now, place };
}

/** How each line is coloured and marked. */
export function useDiffSpans(rows: readonly DiffRow[], path: string): (line: DiffLine) => MarkedSpan[] {
  const language = languageOfPath(path);
  const { old, now, place } = useMemo(() => deriveSides(rows), [rows]);
  const oldSpans = useSpans(old, language);
  const newSpans = useSpans(now, language);
  return (line) => {
    const at = place.get(line);
    const coloured = at === undefined ? undefined : (line.kind === 'removed' ? oldSpans : newSpans)[at];
    const spans: Span[] = coloured ?? [{ text: shownLine(line.text), className: '' }];
    return markSpans(spans, line.kind === 'context' ? [] : line.marks);
  };
}
