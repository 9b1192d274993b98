import { messageOf } from '../api/error';
import { LAST, PAGE, type RecordPage, type RecordQuery } from '../api/records';
import type { RunListener } from '../stream/run-watch';
import type { RunRecord } from '../wire';
import { deriveRows, RowBuilder } from './derive-rows';
import { cutOf, RecordWindow } from './record-window';

/** Where the records come from; tests bring their own. */
export interface RecordSource {
  fetch(query: RecordQuery): Promise<RecordPage>;
  watch(after: number, epoch: string, listener: RunListener): () => void;
  /** Calls back soon, so that many changes are shown together. */
  soon(run: () => void): void;
  /** Lets the browser draw before long work goes on. */
  pause(): Promise<void>;
}

export interface FeedState {
  status: 'loading' | 'ready' | 'failed';
  /** What went wrong last, for people. */
  problem: string | null;
  /** Whether the run was deleted while it was watched. */
  isDeleted: boolean;
  hasBefore: boolean;
  /** Whether there is more after the window than what comes by itself. */
  hasAfter: boolean;
  loading: 'before' | 'after' | null;
  /** The last record of the run, as far as is known. */
  head: number;
}

/** Rows of so many records are made at once: about a millisecond. */
const PART = 500;

const FIRST_STATE: FeedState = {
  status: 'loading',
  problem: null,
  isDeleted: false,
  hasBefore: false,
  hasAfter: false,
  loading: null,
  head: 0,
};

/** The part of a run that the page holds: it follows the end, or is moved to wherever somebody looks. */
export class RunFeed {
  state: FeedState = FIRST_STATE;
  builder = new RowBuilder();
  /** Another window was opened: what was seen before means nothing. */
  opened = 0;
  version = 0;
  private window: RecordWindow | null = null;
  private unwatch: (() => void) | null = null;
  /** What was opened last, and whether the stream has refused to go on from there. */
  private sought: number | undefined;
  private isRefused = false;
  private isFollowing = true;
  private isDirty = false;
  /** What came while rows are made anew. */
  private missed: RunRecord[] | null = null;
  private readonly listeners = new Set<() => void>();

  constructor(private readonly source: RecordSource) {}

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  snapshot = (): number => this.version;

  get first(): number {
    return this.window?.first ?? 0;
  }

  get last(): number {
    return this.window?.last ?? 0;
  }

  /** Whether the window has this record, or would if it were no piece of a text. */
  covers(seq: number): boolean {
    return this.window !== null && seq >= this.window.first && seq <= this.window.last;
  }

  /** Shows the end of the run, or what is around a record. */
  async open(seq?: number): Promise<void> {
    this.opened += 1;
    const { opened } = this;
    this.sought = seq;
    this.isRefused = false;
    this.missed = null;
    this.stopWatching();
    this.set({ ...FIRST_STATE, head: this.state.head });
    try {
      const window = seq === undefined ? await this.openEnd() : await this.openAround(seq);
      if (opened !== this.opened || !window) return;
      this.window = window;
      this.use(window, deriveRows(window.all()));
      if (!this.state.hasAfter) this.watch();
      this.set({ status: 'ready' });
    } catch (error) {
      if (opened !== this.opened) return;
      this.set({ status: 'failed', problem: messageOf(error) });
    }
  }

  /** Tries again what went wrong, such as when the line is back. */
  retry(): void {
    if (this.state.isDeleted) return;
    if (this.state.status === 'failed' || this.isRefused) void this.open(this.sought);
    else if (this.state.problem !== null) this.set({ problem: null });
  }

  close(): void {
    this.opened += 1;
    this.stopWatching();
  }

  /** Whether the newest rows are what somebody looks at: then the oldest are dropped, otherwise the newest. */
  follow(isFollowing: boolean): void {
    this.isFollowing = isFollowing;
  }

  async loadBefore(): Promise<void> {
    const { window } = this;
    if (!window || this.state.loading || !this.state.hasBefore) return;
    await this.load('before', { before: window.first, limit: PAGE }, async (page) => {
      window.prepend(startOf(page), page.records);
      // Who follows wants the end: the next record that comes drops the front.
      if (!this.isFollowing && window.dropBack()) this.detach();
      await this.rebuild(window);
    });
  }

  async loadAfter(): Promise<void> {
    const { window, opened } = this;
    if (!window || this.state.loading || !this.state.hasAfter) return;
    await this.load('after', { after: window.last, limit: PAGE }, async (page) => {
      const isEnd = page.next_after === null;
      const records = isEnd ? page.records.slice(0, cutOf(page.records)) : page.records;
      const added = window.append(window.last + 1, records.at(-1)?.seq ?? window.last, records) ?? [];
      this.add(added);
      if (window.dropFront()) await this.rebuild(window);
      if (opened !== this.opened) return;
      this.state = { ...this.state, hasAfter: !isEnd };
      if (isEnd) this.watch();
    });
  }

  private async load(
    loading: 'before' | 'after',
    query: RecordQuery,
    use: (page: RecordPage) => Promise<void>,
  ): Promise<void> {
    const { opened } = this;
    this.set(this.isRefused ? { loading } : { loading, problem: null });
    try {
      const page = await this.source.fetch(query);
      if (opened !== this.opened) return;
      if (page.epoch !== this.window?.epoch) {
        await this.open();
        return;
      }
      await use(page);
      if (opened !== this.opened) return;
      this.set({ loading: null, head: Math.max(page.head_seq, this.state.head) });
    } catch (error) {
      if (opened === this.opened) this.set({ loading: null, problem: messageOf(error) });
    }
  }

  private async openEnd(): Promise<RecordWindow> {
    const page = await this.source.fetch({ before: LAST, limit: PAGE });
    const records = page.records.slice(0, cutOf(page.records));
    this.state = {
      ...this.state,
      head: page.head_seq,
      hasBefore: page.next_before !== null,
      hasAfter: false,
    };
    return new RecordWindow(page.epoch, startOf(page), records.at(-1)?.seq ?? 0, records);
  }

  private async openAround(seq: number): Promise<RecordWindow | null> {
    const [before, after] = await Promise.all([
      this.source.fetch({ before: seq + 1, limit: PAGE / 2 }),
      this.source.fetch({ after: seq, limit: PAGE / 2 }),
    ]);
    if (before.epoch !== after.epoch) return this.openEnd();
    const isEnd = after.next_after === null;
    const found = [...before.records, ...after.records];
    const records = isEnd ? found.slice(0, cutOf(found)) : found;
    const hasBefore = before.next_before !== null;
    this.state = { ...this.state, head: after.head_seq, hasBefore, hasAfter: !isEnd };
    return new RecordWindow(after.epoch, startOf(before), records.at(-1)?.seq ?? 0, records);
  }

  private watch(): void {
    const { window } = this;
    if (!window) return;
    this.stopWatching();
    this.unwatch = this.source.watch(window.last, window.epoch, {
      onRecords: (from, to, records) => {
        if (window !== this.window) return;
        const added = window.append(from, to, records);
        if (!added) {
          void this.open();
          return;
        }
        this.state = { ...this.state, head: Math.max(to, this.state.head) };
        this.add(added);
        this.trim(window);
        this.changedSoon();
      },
      onHead: (head) => {
        this.state = { ...this.state, head: Math.max(head, this.state.head) };
      },
      onReset: () => void this.open(),
      onLagged: () => {
        if (this.isFollowing) void this.open();
        else this.detach();
      },
      onRefused: (why) => {
        this.isRefused = true;
        this.set({ problem: why });
      },
      onDeleted: () => this.set({ isDeleted: true }),
    });
  }

  private trim(window: RecordWindow): void {
    // Not at each record, because all rows are made anew.
    if (!window.isFull()) return;
    if (!this.isFollowing) this.detach();
    else if (window.dropFront()) this.use(window, deriveRows(window.all()));
  }

  private add(records: readonly RunRecord[]): void {
    this.builder.append(records);
    this.missed?.push(...records);
  }

  /** Makes all rows anew, a part at a time: nobody who scrolls waits for all of them. */
  private async rebuild(window: RecordWindow): Promise<void> {
    const missed: RunRecord[] = [];
    this.missed = missed;
    const records = window.copy();
    const builder = new RowBuilder();
    for (let at = 0; at < records.length; at += PART) {
      if (at > 0) await this.source.pause();
      if (this.missed !== missed) return;
      builder.append(records.slice(at, at + PART));
    }
    builder.append(missed);
    this.use(window, builder);
  }

  private use(window: RecordWindow, builder: RowBuilder): void {
    this.missed = null;
    this.builder = builder;
    this.state = { ...this.state, hasBefore: window.first > 1 };
  }

  /** The window no longer has the end: what comes there is fetched when somebody gets there. */
  private detach(): void {
    this.stopWatching();
    this.set({ hasAfter: true });
  }

  private stopWatching(): void {
    this.unwatch?.();
    this.unwatch = null;
  }

  private changedSoon(): void {
    if (this.isDirty) return;
    this.isDirty = true;
    this.source.soon(() => {
      if (this.isDirty) this.changed();
    });
  }

  private set(change: Partial<FeedState>): void {
    this.state = { ...this.state, ...change };
    this.changed();
  }

  private changed(): void {
    this.isDirty = false;
    this.version += 1;
    for (const listener of this.listeners) listener();
  }
}

/** The first number that a page stands for. */
function startOf(page: RecordPage): number {
  return page.next_before === null ? 1 : (page.records[0]?.seq ?? 1);
}
