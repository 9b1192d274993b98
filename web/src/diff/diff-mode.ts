import { useSyncExternalStore } from 'react';

export type DiffMode = 'split' | 'unified';

const KEY = 'ralph.diff-mode';
const listeners = new Set<() => void>();
const wide = () => globalThis.matchMedia?.('(min-width: 900px)');

function stored(): DiffMode {
  try {
    return localStorage.getItem(KEY) === 'split' ? 'split' : 'unified';
  } catch {
    return 'unified'; // Storage can be forbidden; then the choice lasts as long as the page.
  }
}

let chosen: DiffMode | undefined;

export function diffMode(): DiffMode {
  chosen ??= stored();
  return chosen;
}

export function chooseDiffMode(mode: DiffMode): void {
  chosen = mode;
  try {
    localStorage.setItem(KEY, mode);
  } catch {
    // See `stored`.
  }
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  const query = wide();
  query?.addEventListener('change', listener);
  return () => {
    listeners.delete(listener);
    query?.removeEventListener('change', listener);
  };
}

/** What was chosen, and whether there is room for two texts side by side. */
export function useDiffMode(): { mode: DiffMode; isWide: boolean } {
  const mode = useSyncExternalStore(subscribe, diffMode);
  const isWide = useSyncExternalStore(subscribe, () => wide()?.matches ?? false);
  return { mode, isWide };
}
