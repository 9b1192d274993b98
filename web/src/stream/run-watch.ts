import type { FromClient, RunRecord, ToClient } from './messages';

/** What a watcher of a run is told. */
export interface RunListener {
  /** The records `from` to `to`, in order and without a gap since those before. */
  onRecords(from: number, to: number, records: RunRecord[]): void;
  /** The last record there is. */
  onHead(head: number): void;
  /** The journal is another one: fetch it anew. */
  onReset(): void;
  /** These records do not come this way: fetch them, and watch again after the last one. */
  onLagged(from: number, to: number): void;
  /** The run cannot be watched. */
  onRefused(why: string): void;
  /** The run was deleted: nothing more comes. */
  onDeleted(): void;
}

type Told = Extract<ToClient, { type: 'records' | 'reset' | 'lagged' | 'subscribed' }>;

let lastId = 0;

/** A position in a run's journal, and what moves it. */
export class RunWatch {
  /** Names the newest request, so that what answers an older one is not mistaken for it. */
  id = '';
  private isSubscribed = false;

  constructor(
    readonly run: string,
    private after: number,
    private readonly epoch: string,
    private readonly listener: RunListener,
    private readonly send: (message: FromClient) => boolean,
  ) {}

  /** Asks for all after the position: at the start, after a loss, and when something is missing. */
  subscribe(): void {
    lastId += 1;
    this.id = `s${lastId}`;
    this.isSubscribed = false;
    const { run, after, epoch, id } = this;
    this.send({ type: 'subscribe', run, after, epoch, id });
  }

  receive(message: Told): void {
    if (message.type === 'subscribed') {
      if (message.id === this.id) this.isSubscribed = true;
      // The server goes on in the journal that it has, whichever one was named.
      if (message.epoch && message.epoch !== this.epoch) {
        this.isSubscribed = false;
        this.listener.onReset();
        return;
      }
      if (typeof message.head === 'number') this.listener.onHead(message.head);
      return;
    }
    if (message.type === 'reset') {
      this.listener.onReset();
      return;
    }
    // What an earlier request brought stands before the answer to the newest one.
    if (!this.isSubscribed) return;
    if (message.type === 'lagged') {
      if (message.to > this.after) this.listener.onLagged(Math.max(message.from, this.after + 1), message.to);
      return;
    }
    this.records(message);
  }

  /** A heartbeat: the last record that was told. Who has less has missed something. */
  heard(head: number): void {
    if (this.isSubscribed && head > this.after) this.subscribe();
  }

  refused(why: string): void {
    this.listener.onRefused(why);
  }

  deleted(): void {
    this.listener.onDeleted();
  }

  private records(message: Extract<ToClient, { type: 'records' }>): void {
    if (message.epoch !== this.epoch) {
      this.listener.onReset();
      return;
    }
    if (message.to <= this.after) return;
    if (message.from > this.after + 1) {
      this.subscribe();
      return;
    }
    const records = message.records.filter((record) => record.seq > this.after);
    const from = this.after + 1;
    this.after = message.to;
    this.listener.onRecords(from, message.to, records);
  }
}
