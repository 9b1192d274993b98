import { useEffect, useState } from 'react';
import { canColour } from './derive-lines';
import type { Span } from './derive-spans';
import { colourLines } from './highlighter';
import type { Language } from './languages';

/** What was coloured before, so that a row that comes back into view has its colours at once. */
const kept = new Map<string, Span[][]>();
const MOST_KEPT_CHARS = 2_000_000;
let keptChars = 0;

function keep(key: string, spans: Span[][]): void {
  if (kept.has(key)) return;
  kept.set(key, spans);
  keptChars += key.length;
  for (const oldest of kept.keys()) {
    if (keptChars <= MOST_KEPT_CHARS) break;
    kept.delete(oldest);
    keptChars -= oldest.length;
  }
}

const NONE: Span[][] = [];

/**
 * The colours of the lines, as far as they are known: none at first, those of the first lines after a moment. Where a
 * line has none, its text is shown as it is.
 */
export function useSpans(lines: readonly string[], language: Language | null): Span[][] {
  const isWanted = language !== null && canColour(lines);
  const key = isWanted ? `${language}\n${lines.join('\n')}` : null;
  const [found, setFound] = useState<{ key: string; spans: Span[][] } | null>(null);
  useEffect(() => {
    if (key === null || language === null || kept.has(key)) return;
    const end = new AbortController();
    const tell = (spans: Span[][]) => {
      if (!end.signal.aborted) setFound({ key, spans });
    };
    colourLines(key.slice(language.length + 1).split('\n'), language, tell, end.signal).then(
      (spans) => {
        if (!end.signal.aborted) keep(key, spans);
      },
      // Without colours it is still readable.
      () => undefined,
    );
    return () => end.abort();
  }, [key, language]);
  if (key === null) return NONE;
  return kept.get(key) ?? (found?.key === key ? found.spans : NONE);
}
