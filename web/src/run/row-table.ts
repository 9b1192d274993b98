import type { RunRecord } from '../wire';
import type { Row, RowBody } from './row';
import type { RawRef } from './tool-call';

/** The agent's part of an event; records that were joined on the way have less of it. */
interface Envelope {
  parent?: string | null;
  raw?: { offset: number; length: number } | null;
}

type Process = Pick<RunRecord, 'iteration' | 'attempt'>;

/** Where in the raw log a record's words are. */
export function rawOf(record: RunRecord): RawRef[] {
  const raw = (record.event as Envelope | undefined)?.raw;
  if (!raw) return [];
  const { iteration, attempt } = record;
  return [{ iteration, attempt, offset: raw.offset, length: raw.length }];
}

/**
 * The name of something that an agent calls `item`. Agents count their items anew in every process, so the process is
 * part of the name.
 */
export function itemKey(kind: string, { iteration, attempt }: Process, item: string): string {
  return `${kind}:${iteration}/${attempt}/${item}`;
}

export function parentOf(record: RunRecord): string | null {
  return (record.event as Envelope | undefined)?.parent ?? null;
}

function isOpen(body: RowBody): boolean {
  if (body.kind === 'tool') return body.call.finishedSeq === null;
  if (body.kind === 'ask') return body.state === 'pending';
  if (body.kind === 'verify') return body.result === null;
  return (body.kind === 'text' || body.kind === 'thinking') && body.isStreaming;
}

/** The rows so far, and how to find them again. Knows nothing about what the records mean. */
export class RowTable {
  readonly top: Row[] = [];
  /** Grows when rows come or go, not when one changes. */
  structure = 0;
  /** Rows that wait for more. */
  readonly open = new Set<Row>();
  private readonly byKey = new Map<string, Row>();
  private readonly bySeq = new Map<number, Row>();

  find(key: string): Row | undefined {
    return this.byKey.get(key);
  }

  /** The row that a record is part of. */
  rowOf(seq: number): Row | undefined {
    return this.bySeq.get(seq);
  }

  add(key: string, record: RunRecord, body: RowBody): Row {
    const parent = parentOf(record);
    const { seq, at, iteration, attempt } = record;
    const raw = rawOf(record);
    const row: Row = {
      key,
      seq,
      linkSeq: seq,
      at,
      iteration,
      attempt,
      parent,
      raw,
      version: 0,
      body,
      children: [],
    };
    const above = parent === null ? undefined : this.find(itemKey('tool', record, parent));
    if (above) {
      above.children.push(row);
      above.version += 1;
    } else {
      this.top.push(row);
    }
    this.structure += 1;
    this.byKey.set(key, row);
    this.bySeq.set(seq, row);
    this.keepOpen(row);
    return row;
  }

  /** A row that a record is about, too. */
  change(row: Row, record: RunRecord, body: RowBody): void {
    row.body = body;
    row.version += 1;
    this.keepOpen(row);
    this.note(row, record);
  }

  private keepOpen(row: Row): void {
    if (isOpen(row.body)) this.open.add(row);
    else this.open.delete(row);
  }

  /** The record belongs to the row and changes nothing that it shows. */
  note(row: Row, record: RunRecord): void {
    // Pieces of text come by the thousand, and nothing links to one of them.
    if (record.event.type === 'delta') return;
    this.bySeq.set(record.seq, row);
    for (const ref of rawOf(record)) {
      const isKnown = row.raw.some((each) => each.offset === ref.offset && each.attempt === ref.attempt);
      if (!isKnown && row.raw.length < 8) row.raw = [...row.raw, ref];
    }
  }

  remove(row: Row): void {
    const above = row.parent === null ? undefined : this.find(itemKey('tool', row, row.parent));
    for (const list of above ? [above.children, this.top] : [this.top]) {
      const index = list.lastIndexOf(row);
      if (index >= 0) list.splice(index, 1);
    }
    this.byKey.delete(row.key);
    this.open.delete(row);
    this.structure += 1;
  }
}
