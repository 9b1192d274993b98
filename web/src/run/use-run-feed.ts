import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { fetchRecordsEarly } from '../api/early-page';
import { stream, useConnection } from '../stream/browser';
import { RunFeed } from './run-feed';

/** Changes are shown at most this often: more than a reader sees, less than the page can bear. */
const SHOWN_EVERY_MS = 100;

/** The records of a run that the page holds, shown anew when they change. */
export function useRunFeed(id: string, seq: number | undefined): RunFeed {
  // Only the first address counts: later ones move within what is open.
  const [first] = useState(seq);
  const feed = useMemo(
    () =>
      new RunFeed({
        fetch: (query) => fetchRecordsEarly(id, query),
        watch: (after, epoch, listener) => stream.watchRun(id, after, epoch, listener),
        soon: (run) => setTimeout(run, SHOWN_EVERY_MS),
        pause: () => new Promise((done) => setTimeout(done)),
      }),
    [id],
  );
  useEffect(() => {
    void feed.open(first);
    return () => feed.close();
  }, [feed, first]);
  const { is } = useConnection();
  const wasLost = useRef(false);
  useEffect(() => {
    if (is !== 'open') wasLost.current = true;
    else if (wasLost.current) {
      wasLost.current = false;
      feed.retry();
    }
  }, [is, feed]);
  useSyncExternalStore(feed.subscribe, feed.snapshot);
  return feed;
}
