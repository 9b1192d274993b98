import type { DiffLine, DiffRow } from './derive-diff';

type Side = Extract<DiffLine, { kind: 'context' | 'removed' }>;
type OtherSide = Extract<DiffLine, { kind: 'context' | 'added' }>;

/** Two lines side by side, or a row over both. */
export type SplitRow =
  | { kind: 'pair'; left: Side | null; right: OtherSide | null }
  | Extract<DiffRow, { kind: 'fold' | 'note' }>;

/** Puts lines that replace each other side by side. */
export function deriveSplit(rows: readonly DiffRow[]): SplitRow[] {
  const split: SplitRow[] = [];
  let removed: Side[] = [];
  let added: OtherSide[] = [];
  const flush = () => {
    for (let at = 0; at < Math.max(removed.length, added.length); at += 1) {
      split.push({ kind: 'pair', left: removed[at] ?? null, right: added[at] ?? null });
    }
    removed = [];
    added = [];
  };
  for (const row of rows) {
    if (row.kind === 'removed') {
      // What is removed after something was added is a change of its own.
      if (added.length > 0) flush();
      removed.push(row);
    } else if (row.kind === 'added') added.push(row);
    else {
      flush();
      split.push(row.kind === 'context' ? { kind: 'pair', left: row, right: row } : row);
    }
  }
  flush();
  return split;
}
