import type { Delta, RunRecord } from '../wire';
import { MOST_LIVE_OUTPUT } from './derive-tool-call';
import { itemKey } from './row-table';

/** How much a window may hold. */
export interface Limits {
  records: number;
  /** Of all texts: some agents fill the memory with few records. */
  letters: number;
  /** What somebody may be looking at stays, however long it is. */
  fewest: number;
}

/** Above this the far end is dropped. */
export const LIMITS: Limits = { records: 4_000, letters: 1_500_000, fewest: 600 };

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
  /** The length of all texts in them. */
  private letters = 0;
  /** Pieces of items that are still being written, by process, item and part. */
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

  /** Whether it holds more than it may, by a quarter: dropping costs something, and is done now and then only. */
  isFull(limits = LIMITS): boolean {
    if (this.length <= limits.fewest * 1.25) return false;
    return this.length > limits.records * 1.25 || this.letters > limits.letters * 1.25;
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
    for (const record of added) this.letters += lettersOf(record.event);
    this.records = [...added, ...this.all()];
    this.first = Math.min(this.first, first);
  }

  /** Keeps the newest records. */
  dropFront(limits = LIMITS): boolean {
    this.sweep();
    const keep = keptOf(this.records.toReversed(), limits);
    const surplus = this.records.length - keep;
    const next = this.records[surplus];
    if (surplus <= 0 || !next) return false;
    for (const record of this.records.splice(0, surplus)) this.forget(record);
    this.first = next.seq;
    return true;
  }

  /** Keeps the oldest records. */
  dropBack(limits = LIMITS): boolean {
    this.sweep();
    const keep = keptOf(this.records, limits);
    if (this.records.length <= keep) return false;
    for (const record of this.records.splice(keep)) this.forget(record);
    this.last = this.records.at(-1)?.seq ?? this.first;
    return true;
  }

  private push(record: RunRecord): void {
    const { event } = record;
    if (event.type === 'delta') {
      const key = itemKey(event.data.part, record, event.data.item);
      const before = this.open.get(key);
      if (before?.event.type === 'delta') {
        this.letters -= before.event.data.text.length;
        join(before.event.data, event.data);
        this.letters += before.event.data.text.length;
        return;
      }
      this.letters += lettersOf(event);
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
    this.letters += lettersOf(event);
    this.records.push(record);
  }

  private forget(record: RunRecord): void {
    this.letters -= lettersOf(record.event);
    if (record.event.type !== 'delta') return;
    const { part, item } = record.event.data;
    this.open.delete(itemKey(part, record, item));
  }

  private sweep(): void {
    if (this.dead.size === 0) return;
    for (const record of this.dead) this.letters -= lettersOf(record.event);
    this.records = this.records.filter((record) => !this.dead.has(record));
    this.dead = new Set();
  }
}

/** How many of these records may stay, from the first on. */
function keptOf(records: readonly RunRecord[], limits: Limits): number {
  let letters = 0;
  for (const [at, { event }] of records.entries()) {
    letters += lettersOf(event);
    if (at >= limits.records) return at;
    if (at >= limits.fewest && letters > limits.letters) return at;
  }
  return records.length;
}

/** The length of all texts in something. What lies very deep is not worth the way. */
function lettersOf(value: unknown, depth = 0): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null || depth > 5) return 0;
  let letters = 0;
  for (const each of Object.values(value)) letters += lettersOf(each, depth + 1);
  return letters;
}

function ownOf(record: RunRecord, event: Extract<RunRecord['event'], { type: 'delta' }>): RunRecord {
  return { ...record, event: { ...event, data: { ...event.data } } };
}

function join(before: Delta, next: Delta): void {
  if (next.mode === 'snapshot') before.text = next.text;
  else before.text += next.text;
  // No more of it is shown; not at each piece, because cutting copies it.
  if (before.part === 'tool_output' && before.text.length > 2 * MOST_LIVE_OUTPUT) {
    before.text = before.text.slice(-MOST_LIVE_OUTPUT);
  }
}

/** The pieces that a record makes unnecessary. */
function endedBy(record: RunRecord): string[] {
  const { event } = record;
  const keys = (item: string, ...parts: string[]) => parts.map((part) => itemKey(part, record, item));
  switch (event.type) {
    case 'text_block':
      return keys(event.data.item, 'text');
    case 'thinking_block':
      return keys(event.data.item, 'thinking');
    case 'tool_started':
      return event.data.state === 'running' ? keys(event.data.item, 'tool_input') : [];
    case 'tool_finished':
      return keys(event.data.item, 'tool_input', 'tool_output');
    case 'item_discarded':
      return keys(event.data.item, 'text', 'thinking', 'tool_input', 'tool_output');
    default:
      return [];
  }
}

/** Kinds of records after which the model begins something new: no text that it is writing began before them. */
const BETWEEN = new Set([
  'text_block',
  'thinking_block',
  'user_message',
  'tool_started',
  'turn_started',
  'turn_finished',
  'session_started',
  'iteration_started',
  'iteration_ended',
  'attempt_started',
  'attempt_ended',
  'run_started',
]);

/** A command that has been running for longer than this many records shows the end of its output. */
const MOST_SINCE_COMMAND = 100;

/**
 * Where a page of the newest records is to be cut, so that pieces of what is being written come with what follows:
 * pages have no pieces, and other records come between them, such as those of the machinery and of subagents. The same
 * goes for the output of commands that still run.
 */
export function cutOf(records: readonly RunRecord[]): number {
  if (records.at(-1)?.event.type === 'run_ended') return records.length;
  const ended = new Set<string>();
  let cut = records.length;
  let isTextOpen = true;
  for (let at = records.length - 1; at >= 0; at -= 1) {
    const event = records[at]?.event;
    if (!event) continue;
    if (event.type === 'tool_finished') ended.add(event.data.item);
    const isRunning =
      event.type === 'tool_started' && event.data.kind === 'execute' && !ended.has(event.data.item);
    const isOwn = !('parent' in event && event.parent);
    if (isTextOpen && isOwn && BETWEEN.has(event.type)) {
      isTextOpen = false;
      cut = at + 1;
    } else if (isRunning && records.length - at <= MOST_SINCE_COMMAND) {
      cut = at + 1;
    }
  }
  return cut;
}
