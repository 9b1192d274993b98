import { useSyncExternalStore } from 'react';
import { serverClock } from '../api/server-clock';

let now = Date.now();
let timer: ReturnType<typeof setInterval> | null = null;
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (timer === null) {
    // It may have stood still for long.
    now = Date.now();
    timer = setInterval(() => {
      now = Date.now();
      for (const each of listeners) each();
    }, 1_000);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  };
}

const never = () => () => {};

/** The browser's time, once a second and for all together; standing still where nothing ticks. */
export function useBrowserNow(isTicking: boolean): number {
  return useSyncExternalStore(isTicking ? subscribe : never, () => now);
}

/** The same by the server's clock: what has happened in a run is told in its time. */
export function useNow(isTicking: boolean): number {
  return useBrowserNow(isTicking) + serverClock.offset;
}
