import { createContext, useContext, useLayoutEffect, useState } from 'react';

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

/** What somebody was sent to, for the row that it is; null for all others. */
export const SentHere = createContext<object | null>(null);

/** As `useKept` for something that opens: it is open when somebody is sent to it, until it is closed again. */
export function useOpen<T>(name: string, initial: T): [T | boolean, (next: boolean) => void] {
  const kept = useContext(KeptState);
  const sent = useContext(SentHere);
  const [isOpen, setOpen] = useKept<T | boolean>(name, initial);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each time that somebody is sent.
  useLayoutEffect(() => {
    if (sent === null || kept.get(`${name} sent`) === sent) return;
    kept.set(`${name} sent`, sent);
    setOpen(true);
  }, [sent, name]);
  return [isOpen, setOpen];
}
