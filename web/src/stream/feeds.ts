import type { Approval, FeedName, RunSummary } from '../wire';
import type { FromClient, ToClient } from './messages';

export interface InboxState {
  count: number;
  approvals: Approval[];
}

/** From this version of the protocol on, only the fields of a run that have changed are told. */
const PROTOCOL = 2;

/** The two lists that the server keeps up to date. Each is asked for while somebody looks at it. */
export class Feeds {
  runs: ReadonlyMap<string, RunSummary> = new Map();
  /** Runs that the last list of all left out, or that were deleted: they are in the index, or are no more. */
  left: ReadonlySet<string> = new Set();
  inbox: InboxState = { count: 0, approvals: [] };
  private readonly listeners = { runs: new Set<() => void>(), inbox: new Set<() => void>() };

  constructor(private readonly send: (message: FromClient) => boolean) {}

  watch(feed: FeedName, listener: () => void): () => void {
    const listeners = this.listeners[feed];
    listeners.add(listener);
    if (listeners.size === 1) this.ask(feed);
    return () => {
      if (listeners.delete(listener) && listeners.size === 0) this.send({ type: 'unsubscribe', feed });
    };
  }

  subscribe(): void {
    for (const feed of ['runs', 'inbox'] as const) {
      if (this.listeners[feed].size > 0) this.ask(feed);
    }
  }

  receive(message: Extract<ToClient, { type: 'runs' | 'runs_changed' | 'inbox' }>): void {
    if (message.type === 'inbox') {
      this.inbox = { count: message.count, approvals: message.approvals };
      this.tell('inbox');
      return;
    }
    const isAll = message.type === 'runs' && message.is_all;
    const next = new Map(this.runs);
    const left = new Set(isAll ? this.runs.keys() : this.left);
    // Those that ended before the page was opened are not known here, but they may be in a list that was fetched.
    if (message.type === 'runs_changed') for (const id of message.removed ?? []) left.add(id);
    for (const run of message.runs) {
      // Only fields that changed are told of a run that is known. A run that is not known has all of them.
      next.set(run.id, { ...next.get(run.id), ...run } as RunSummary);
      left.delete(run.id);
    }
    this.runs = next;
    if (left.size > 0 || this.left.size > 0) this.left = left;
    this.tell('runs');
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

  private ask(feed: FeedName): void {
    this.send({ type: 'subscribe', feed, ...(feed === 'runs' && { protocol: PROTOCOL }) });
  }

  private tell(feed: FeedName): void {
    for (const listener of this.listeners[feed]) listener();
  }
}
