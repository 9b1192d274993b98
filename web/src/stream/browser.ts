import { useSyncExternalStore } from 'react';
import { probe } from '../api/client';
import type { RunSummary } from '../wire';
import type { ConnectionState } from './connection';
import type { InboxState } from './feeds';
import { Stream } from './stream';
import { openTicketSocket } from './ticket-socket';

/** The page's connection. */
export const stream = new Stream({
  openSocket: openTicketSocket,
  probe,
  now: () => Date.now(),
  random: Math.random,
  setTimer: (run, ms) => setTimeout(run, ms),
  clearTimer: (timer) => clearTimeout(timer as ReturnType<typeof setTimeout>),
});

/** Opens the connection, and tries again at once when the network or the person is back. */
export function startStream(): void {
  stream.start();
  addEventListener('online', () => stream.retryNow());
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden && stream.connectionState().is === 'waiting') stream.retryNow();
  });
}

export function useConnection(): ConnectionState {
  return useSyncExternalStore(stream.onConnection, stream.connectionState);
}

export function useLiveRuns(): ReadonlyMap<string, RunSummary> {
  return useSyncExternalStore(stream.watchRuns, stream.liveRuns);
}

export function useLeftRuns(): ReadonlySet<string> {
  return useSyncExternalStore(stream.watchRuns, stream.leftRuns);
}

export function useInbox(): InboxState {
  return useSyncExternalStore(stream.watchInbox, stream.inbox);
}
