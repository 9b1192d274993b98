import { Unplug } from 'lucide-react';
import { useEffect, useState } from 'react';
import { stream, useConnection } from '../stream/browser';
import { useBrowserNow } from './use-now';

/** A short loss mends itself before anybody could read about it. */
const PATIENCE_MS = 1_500;

/** Says that the line is lost, and that it will be back. */
export function ReconnectBanner() {
  const state = useConnection();
  const isLost = state.is === 'waiting' || state.is === 'connecting';
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    if (!isLost) {
      setShown(false);
      return;
    }
    const timer = setTimeout(() => setShown(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [isLost]);
  const now = useBrowserNow(isShown);
  if (!isShown) return null;
  const seconds = state.is === 'waiting' ? Math.max(0, Math.ceil((state.until - now) / 1_000)) : 0;
  return (
    // It lies over the page and takes no room in it: nothing jumps when the line is lost or back.
    <div
      role="status"
      className="absolute inset-x-0 top-1 z-20 mx-auto flex w-fit max-w-[calc(100%-1rem)] items-center gap-2 rounded-lg border border-warn bg-warn-soft px-3 py-1 text-warn text-xs shadow-pop"
    >
      <Unplug aria-hidden className="size-4 shrink-0" />
      <span>
        No connection to the server.
        <span className="max-sm:sr-only"> Your runs go on; the page catches up by itself.</span>
        {seconds > 0 && ` Next try in ${seconds} s.`}
      </span>
      <button type="button" className="shrink-0 underline" onClick={() => stream.retryNow()}>
        Try now
      </button>
    </div>
  );
}
