import { useState } from 'react';

/** What was chosen and what the run does not say of itself yet; undefined once it does, or says something else. */
export function useChosen<T>(now: T): [T | undefined, (value: T) => void] {
  const [chosen, setChosen] = useState<{ value: T; was: T } | null>(null);
  const isOpen = chosen !== null && chosen.was === now && chosen.value !== now;
  return [isOpen ? chosen.value : undefined, (value) => setChosen({ value, was: now })];
}
