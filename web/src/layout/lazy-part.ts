import { type ComponentType, type LazyExoticComponent, lazy } from 'react';

/** Most browsers remember that a file could not be loaded, so more patience would not help. */
const PAUSES_MS = [500, 1_000];

/** A part of the page is not to be had: the server is away, or was updated and has other files. */
export class PartMissing extends Error {
  override name = 'PartMissing';
}

/** Loads, and tries again if that fails; what stands there meanwhile is shown as before. */
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
  return load().catch((cause) => {
    throw new PartMissing('A part of the page could not be loaded', { cause });
  });
}

/** A part of the page that is loaded when it is first shown. */
export function lazyPart<P extends object>(
  load: () => Promise<ComponentType<P>>,
): LazyExoticComponent<ComponentType<P>> {
  return lazy(async () => ({ default: await loadPatiently(load) }));
}
