import type { Approval, FeedName, RunSummary } from '../wire';
import type { FromClient, ToClient } from './messages';

export interface InboxState {
  count: number;
  approvals: Approval[];
}

/** The two lists that the server keeps up to date. Each is asked for while somebody looks at it. */
export class Feeds {
  runs: ReadonlyMap<string, RunSummary> = new Map();
  inbox: InboxState = { count: 0, approvals: [] };
  private readonly listeners = { runs: new Set<() => void>(), inbox: new Set<() => void>() };

  constructor(private readonly send: (message: FromClient) => boolean) {}

  watch(feed: FeedName, listener: () => void): () => void {
    const listeners = this.listeners[feed];
    listeners.add(listener);
    if (listeners.size === 1) this.send({ type: 'subscribe', feed });
    return () => {
      if (listeners.delete(listener) && listeners.size === 0) this.send({ type: 'unsubscribe', feed });
    };
  }

  subscribe(): void {
    for (const feed of ['runs', 'inbox'] as const) {
      if (this.listeners[feed].size > 0) this.send({ type: 'subscribe', feed });
    }
  }

  receive(message: Extract<ToClient, { type: 'runs' | 'inbox' }>): void {
    if (message.type === 'runs') {
      // A list of all leaves out runs that ended meanwhile: what is known of them is old, and the API has the new.
      const next = new Map(message.is_all ? [] : this.runs);
      for (const run of message.runs) next.set(run.id, run);
      this.runs = next;
    } else {
      this.inbox = { count: message.count, approvals: message.approvals };
    }
    for (const listener of this.listeners[message.type]) listener();
  }
}
