import { useSyncExternalStore } from 'react';
import { serverNow } from '../api/server-clock';
import { stream } from '../stream/browser';
import { Outbox, type Say } from './outbox';

const outboxes = new Map<string, Outbox>();

function storage(): Storage | null {
  try {
    return globalThis.sessionStorage ?? null;
  } catch {
    return null;
  }
}

/** What a person writes to this run, kept while the browser's tab is open. */
export function useOutbox(run: string): Outbox {
  let outbox = outboxes.get(run);
  if (!outbox) {
    const say: Say = (text, mode, id) => stream.command(run, { command: 'send', text, mode }, id);
    outbox = new Outbox(run, say, storage(), serverNow);
    outboxes.set(run, outbox);
  }
  useSyncExternalStore(outbox.subscribe, outbox.snapshot);
  return outbox;
}
