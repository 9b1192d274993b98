import { type ComponentType, type LazyExoticComponent, lazy } from 'react';

/** A server that restarts is back by then. One that was upgraded has other files: then the page must be loaded anew. */
const PAUSES_MS = [1_000, 2_000, 4_000, 8_000];

/** Loads, and tries again for a while if that fails; what stands there meanwhile is shown as before. */
export async function loadPatiently<T>(
  load: () => Promise<T>,
  pause: (ms: number) => Promise<void> = (ms) => new Promise((done) => setTimeout(done, ms)),
): Promise<T> {
  for (const ms of PAUSES_MS) {
    try {
      return await load();
    } catch {
      await pause(ms);
    }
  }
  return load();
}

/** A part of the page that is loaded when it is first shown. */
export function lazyPart<P extends object>(
  load: () => Promise<ComponentType<P>>,
): LazyExoticComponent<ComponentType<P>> {
  return lazy(async () => ({ default: await loadPatiently(load) }));
}
