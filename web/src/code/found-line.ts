import { createContext, useContext, useMemo } from 'react';

/** What was looked for, in the row that somebody was sent to for it; empty in all others. */
export const FoundHere = createContext('');

/** The first line that was looked for, so that it is in view; -1 if none was. */
export function useFoundLine(lines: readonly string[]): number {
  const wanted = useContext(FoundHere).trim().toLowerCase();
  return useMemo(
    () => (wanted === '' ? -1 : lines.findIndex((line) => line.toLowerCase().includes(wanted))),
    [lines, wanted],
  );
}
