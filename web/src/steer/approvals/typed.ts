import { useState } from 'react';
import type { Approval } from '../../wire';
import { askOf } from './derive-closed';

/** What was typed into requests that still wait, by asking and field. It outlives the cards, as long as the page. */
const typed = new Map<string, ReadonlyMap<string, unknown>>();

/** Names one asking among those of all runs. */
export function askKey(approval: Approval): string {
  return `${approval.run} ${askOf(approval)}`;
}

/** A state that is there again when somebody leaves a request and comes back. */
export function useTyped<T>(ask: string, field: string, first: () => T): [T, (next: T) => void] {
  const [value, setValue] = useState<T>(() => {
    const kept = typed.get(ask);
    return kept?.has(field) ? (kept.get(field) as T) : first();
  });
  const set = (next: T) => {
    typed.set(ask, new Map(typed.get(ask)).set(field, next));
    setValue(next);
  };
  return [value, set];
}

/** The request was answered, by whomever. */
export function forgetTyped(ask: string): void {
  typed.delete(ask);
}

/** Everything; for tests. */
export function forgetAllTyped(): void {
  typed.clear();
}
