import type { Delta, RunRecord } from '../wire';

/** Above this many records the far end is dropped. */
export const MOST_RECORDS = 4_000;

/**
 * One contiguous range of a run's records. Pieces of a text are kept as one record while the text is being written, and
 * not at all when it is complete. So the range may have fewer records than numbers.
 */
export class RecordWindow {
  /** All records from here on are known. */
  first: number;
  /** Up to here. */
  last: number;
  private records: RunRecord[] = [];
  /** Pieces of items that are still being written, by item and part. */
  private readonly open = new Map<string, RunRecord>();
  private dead = new Set<RunRecord>();

  constructor(
    readonly epoch: string,
    first: number,
    last: number,
    records: readonly RunRecord[],
  ) {
    this.first = first;
    this.last = last;
    for (const record of records) this.push(record);
  }

  get length(): number {
    return this.records.length - this.dead.size;
  }

  all(): readonly RunRecord[] {
    this.sweep();
    return this.records;
  }

  /** The records as they are now: none of them grows any more. */
  copy(): RunRecord[] {
    return this.all().map((record) => (record.event.type === 'delta' ? ownOf(record, record.event) : record));
  }

  /** Adds what comes after; gives what of it is new, or null if something is missing in between. */
  append(from: number, to: number, records: readonly RunRecord[]): RunRecord[] | null {
    if (from > this.last + 1) return null;
    const added = records.filter((record) => record.seq > this.last);
    for (const record of added) this.push(record);
    this.last = Math.max(this.last, to);
    if (this.dead.size > 256) this.sweep();
    return added;
  }

  /** Adds a page that ends just before the first record. */
  prepend(first: number, records: readonly RunRecord[]): void {
    const added = records.filter((record) => record.seq < this.first);
    this.records = [...added, ...this.all()];
    this.first = Math.min(this.first, first);
  }

  /** Keeps the newest `keep` records. */
  dropFront(keep: number): boolean {
    this.sweep();
    const surplus = this.records.length - keep;
    const next = this.records[surplus];
    if (surplus <= 0 || !next) return false;
    for (const record of this.records.splice(0, surplus)) this.forget(record);
    this.first = next.seq;
    return true;
  }

  /** Keeps the oldest `keep` records. */
  dropBack(keep: number): boolean {
    this.sweep();
    if (this.records.length <= keep) return false;
    for (const record of this.records.splice(keep)) this.forget(record);
    this.last = this.records.at(-1)?.seq ?? this.first;
    return true;
  }

  private push(record: RunRecord): void {
    const { event } = record;
    if (event.type === 'delta') {
      const key = keyOf(event.data);
      const before = this.open.get(key);
      if (before?.event.type === 'delta') {
        join(before.event.data, event.data);
        return;
      }
      // Its text grows, and the record of the caller is not ours to change.
      const own = ownOf(record, event);
      this.open.set(key, own);
      this.records.push(own);
      return;
    }
    for (const key of endedBy(record)) {
      const pieces = this.open.get(key);
      if (pieces) this.dead.add(pieces);
      this.open.delete(key);
    }
    this.records.push(record);
  }

  private forget(record: RunRecord): void {
    if (record.event.type === 'delta') this.open.delete(keyOf(record.event.data));
  }

  private sweep(): void {
    if (this.dead.size === 0) return;
    this.records = this.records.filter((record) => !this.dead.has(record));
    this.dead = new Set();
  }
}

function ownOf(record: RunRecord, event: Extract<RunRecord['event'], { type: 'delta' }>): RunRecord {
  return { ...record, event: { ...event, data: { ...event.data } } };
}

function keyOf(delta: Delta): string {
  return `${delta.part}:${delta.item}`;
}

function join(before: Delta, next: Delta): void {
  if (next.mode === 'snapshot') before.text = next.text;
  else before.text += next.text;
}

/** The pieces that a record makes unnecessary. */
function endedBy(record: RunRecord): string[] {
  const { event } = record;
  switch (event.type) {
    case 'text_block':
      return [`text:${event.data.item}`];
    case 'thinking_block':
      return [`thinking:${event.data.item}`];
    case 'tool_started':
      return event.data.state === 'running' ? [`tool_input:${event.data.item}`] : [];
    case 'tool_finished':
      return [`tool_input:${event.data.item}`, `tool_output:${event.data.item}`];
    case 'item_discarded':
      return ['text', 'thinking', 'tool_input', 'tool_output'].map((part) => `${part}:${event.data.item}`);
    default:
      return [];
  }
}

/** Kinds of records that come while a text is being written. */
const PASSING = new Set([
  'status_changed',
  'usage',
  'tool_progressed',
  'message_updated',
  'rate_limit',
  'notice',
]);
const MOST_PASSING = 64;

/**
 * Where a page of the newest records is to be cut, so that pieces of a text that is being written come with what
 * follows: pages have no pieces, and records of the machinery come between them.
 */
export function cutOf(records: readonly RunRecord[]): number {
  let cut = records.length;
  while (cut > 1 && records.length - cut < MOST_PASSING) {
    const type = records[cut - 1]?.event.type;
    if (type === undefined || !PASSING.has(type)) break;
    cut -= 1;
  }
  return cut;
}
