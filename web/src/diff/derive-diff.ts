import { diffArrays } from 'diff';
import { deriveLines } from '../code/derive-lines';
import type { Mark } from '../code/derive-spans';
import { deriveIntraline } from './derive-intraline';

/** A line of a diff. Numbers are null where they are not known. */
export type DiffLine =
  | { kind: 'context'; old: number | null; new: number | null; text: string }
  | { kind: 'removed'; old: number | null; text: string; marks: Mark[] }
  | { kind: 'added'; new: number | null; text: string; marks: Mark[] };

export type DiffRow =
  | DiffLine
  /** Lines that are the same and left out; `lines` has them where they are known. */
  | { kind: 'fold'; count: number | null; lines: DiffLine[] }
  /** What the diff says about itself: no newline at the end, a header that is not known. */
  | { kind: 'note'; text: string };

export interface Diff {
  rows: DiffRow[];
  added: number;
  removed: number;
}

/** Lines of the same around a change. */
const CONTEXT = 3;
/** Two texts that differ more than this, or in more lines, are shown one after the other. */
const MOST_EDITS = 4_000;
const MOST_LINES = 60_000;

/** What turns one text into the other. `hasNumbers` is false for pieces of a file, whose place is not known. */
export function diffOfTexts(before: string, after: string, hasNumbers = true): Diff {
  const old = before === '' ? [] : deriveLines(before);
  const now = after === '' ? [] : deriveLines(after);
  const isSmall = old.length + now.length <= MOST_LINES;
  const changes = (isSmall && diffArrays(old, now, { maxEditLength: MOST_EDITS, timeout: 500 })) || [
    { value: old, removed: true, added: false },
    { value: now, removed: false, added: true },
  ];
  const lines: DiffLine[] = [];
  let atOld = 1;
  let atNew = 1;
  const number = (value: number) => (hasNumbers ? value : null);
  for (const { value, added, removed } of changes) {
    for (const text of value) {
      if (removed) lines.push({ kind: 'removed', old: number(atOld), text, marks: [] });
      else if (added) lines.push({ kind: 'added', new: number(atNew), text, marks: [] });
      else lines.push({ kind: 'context', old: number(atOld), new: number(atNew), text });
      if (!added) atOld += 1;
      if (!removed) atNew += 1;
    }
  }
  return finish(foldContext(lines));
}

/** Leaves out what is the same for long, but for a few lines around each change. */
export function foldContext(lines: readonly DiffLine[], context = CONTEXT): DiffRow[] {
  const rows: DiffRow[] = [];
  let at = 0;
  while (at < lines.length) {
    let end = at;
    while (end < lines.length && lines[end]?.kind === 'context') end += 1;
    if (end > at) {
      const before = at === 0 ? 0 : context;
      const after = end === lines.length ? 0 : context;
      const hidden = end - at - before - after;
      // A fold is a row itself: it must hide more than that.
      if (hidden > 1) {
        const folded = lines.slice(at + before, end - after);
        rows.push(...lines.slice(at, at + before));
        rows.push({ kind: 'fold', count: hidden, lines: folded });
        rows.push(...lines.slice(end - after, end));
      } else {
        rows.push(...lines.slice(at, end));
      }
      at = end;
    }
    const line = lines[at];
    if (line) rows.push(line);
    at += 1;
  }
  return rows;
}

/** Counts, and marks the words that differ in lines that replace each other. */
export function finish(rows: DiffRow[]): Diff {
  let added = 0;
  let removed = 0;
  for (let at = 0; at < rows.length; ) {
    let middle = at;
    while (rows[middle]?.kind === 'removed') middle += 1;
    let end = middle;
    while (rows[end]?.kind === 'added') end += 1;
    removed += middle - at;
    added += end - middle;
    // Only lines that stand against each other one by one.
    if (middle - at === end - middle && middle - at <= 30) {
      for (let line = at; line < middle; line += 1) markPair(rows[line], rows[line + middle - at]);
    }
    at = Math.max(end, at + 1);
  }
  return { rows, added, removed };
}

function markPair(before: DiffRow | undefined, after: DiffRow | undefined): void {
  if (before?.kind !== 'removed' || after?.kind !== 'added') return;
  const marks = deriveIntraline(before.text, after.text);
  before.marks = marks.old;
  after.marks = marks.new;
}
