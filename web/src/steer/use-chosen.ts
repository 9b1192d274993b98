import { useEffect, useState } from 'react';

/** How long a run may take to say that it does what was chosen. */
export const PATIENCE_MS = 10_000;

interface Said<T> {
  /** What the run says of itself. */
  now: T;
  /** The last record that says what the agent did not take. */
  refusal: number;
  /** Whether nobody can say anything yet, because the agent does so when it works. */
  isWaiting?: boolean;
}

/**
 * What was chosen and what the run does not say of itself yet. Undefined once it does or says something else, once the
 * agent did not take it, and when it had time enough: some choices have another name, or none, in what a run says.
 */
export function useChosen<T>({
  now,
  refusal,
  isWaiting = false,
}: Said<T>): [T | undefined, (value: T) => void] {
  const [chosen, setChosen] = useState<{ value: T; was: T; refusal: number } | null>(null);
  const isOpen = chosen !== null && chosen.was === now && chosen.value !== now && refusal <= chosen.refusal;
  useEffect(() => {
    if (!chosen || !isOpen || isWaiting) return;
    const timer = setTimeout(() => setChosen(null), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [chosen, isOpen, isWaiting]);
  return [isOpen ? chosen.value : undefined, (value) => setChosen({ value, was: now, refusal })];
}
