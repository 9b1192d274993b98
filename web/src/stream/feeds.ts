import type { Approval, FeedName, RunSummary } from '../wire';
import type { FromClient, ToClient } from './messages';

export interface InboxState {
  count: number;
  approvals: Approval[];
}

/** The two lists that the server keeps up to date. Each is asked for while somebody looks at it. */
export class Feeds {
  runs: ReadonlyMap<string, RunSummary> = new Map();
  /** Runs that the last list of all left out: they have ended and are in the index, or are no more. */
  left: ReadonlySet<string> = new Set();
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
      const next = new Map(this.runs);
      const left = new Set(message.is_all ? this.runs.keys() : this.left);
      for (const run of message.runs) {
        next.set(run.id, run);
        left.delete(run.id);
      }
      this.runs = next;
      if (left.size > 0 || this.left.size > 0) this.left = left;
    } else {
      this.inbox = { count: message.count, approvals: message.approvals };
    }
    this.tell(message.type);
  }

  /**
   * Forgets runs that were left out, once the API was asked about them. Until then what was told last is newer than
   * what was fetched before: a run that has ended does not come back to life.
   */
  letGo(ids: Iterable<string>): void {
    const gone = [...ids].filter((id) => this.left.has(id));
    if (gone.length === 0) return;
    const [runs, left] = [new Map(this.runs), new Set(this.left)];
    for (const id of gone) {
      runs.delete(id);
      left.delete(id);
    }
    [this.runs, this.left] = [runs, left];
    this.tell('runs');
  }

  private tell(feed: FeedName): void {
    for (const listener of this.listeners[feed]) listener();
  }
}
