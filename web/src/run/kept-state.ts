import { createContext, useContext, useState } from 'react';

/** What is unfolded or switched in rows. Rows come and go as the list is scrolled; this stays. */
export const KeptState = createContext<Map<string, unknown>>(new Map());

/** As `useState`, for something in a row: `name` must be unique in the run, so begin it with the row's or the call's key. */
export function useKept<T>(name: string, initial: T): [T, (next: T) => void] {
  const kept = useContext(KeptState);
  const [value, setValue] = useState<T>(() => (kept.has(name) ? (kept.get(name) as T) : initial));
  const set = (next: T) => {
    kept.set(name, next);
    setValue(next);
  };
  return [value, set];
}
