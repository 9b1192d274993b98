import { type Category, categoryOf, type Row } from './row';

/** A row in the list, and how deep it stands. */
export interface FlatRow {
  row: Row;
  depth: number;
}

const DEEPEST = 4;

/**
 * The rows that are shown, in order: subagents' rows under the call that started them, unless that is folded. `wanted`
 * is shown even if its kind is hidden: somebody was sent to it.
 */
export function flattenRows(
  rows: readonly Row[],
  hidden: ReadonlySet<Category>,
  folded: ReadonlySet<string>,
  wanted?: Row,
): FlatRow[] {
  const flat: FlatRow[] = [];
  const add = (list: readonly Row[], depth: number) => {
    for (const row of list) {
      if (row !== wanted && hidden.has(categoryOf(row.body))) continue;
      flat.push({ row, depth });
      if (row.children.length > 0 && !folded.has(row.key)) add(row.children, Math.min(depth + 1, DEEPEST));
    }
  };
  add(rows, 0);
  return flat;
}

/** The place of the row that a record is part of, or of the next one if that is not shown. */
export function indexOfSeq(flat: readonly FlatRow[], row: Row | undefined, seq: number): number {
  if (row) {
    const index = flat.findIndex((each) => each.row === row);
    if (index >= 0) return index;
  }
  const next = flat.findIndex((each) => each.row.seq >= seq);
  return next >= 0 ? next : flat.length - 1;
}
