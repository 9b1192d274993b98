import { type ComponentType, createElement, lazy, useState } from 'react';

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

type LazyPart<P> = ComponentType<P> & { preload: () => Promise<unknown> };

/**
 * A part of the page that is loaded when it is first shown, or when it is known that it will be: one that is there
 * already is drawn at once, so that nothing jumps.
 */
export function lazyPart<P extends object>(load: () => Promise<ComponentType<P>>): LazyPart<P> {
  let loaded: ComponentType<P> | null = null;
  let loading: Promise<ComponentType<P>> | null = null;
  const once = () => {
    loading ??= loadPatiently(load).then((part) => {
      loaded = part;
      return part;
    });
    return loading;
  };
  const Lazy: ComponentType<P> = lazy(async () => ({ default: await once() }));
  // biome-ignore lint/correctness/noComponentHookFactories: each part is made once, when its module is loaded.
  function Part(props: P) {
    // The same one for as long as it is there: another one would begin anew.
    const [Shown] = useState(() => loaded ?? Lazy);
    return createElement(Shown, props);
  }
  // What goes wrong is told where the part is shown.
  Part.preload = () => once().catch(() => {});
  return Part;
}
