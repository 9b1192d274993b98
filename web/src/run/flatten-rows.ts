import { type Category, categoryOf, type Row } from './row';

/** A row in the list, and how deep it stands. */
export interface FlatRow {
  row: Row;
  depth: number;
}

const DEEPEST = 4;

/** The calls that a row stands under, and the row itself. */
function pathTo(rows: readonly Row[], wanted: Row): Row[] {
  for (const row of rows) {
    if (row === wanted) return [row];
    const path = pathTo(row.children, wanted);
    if (path.length > 0) return [row, ...path];
  }
  return [];
}

/**
 * The rows that are shown, in order: subagents' rows under the call that started them, unless that is folded. `wanted`
 * is shown even if its kind is hidden, or what it stands under is hidden or folded: somebody was sent to it.
 */
export function flattenRows(
  rows: readonly Row[],
  hidden: ReadonlySet<Category>,
  folded: ReadonlySet<string>,
  wanted?: Row,
): FlatRow[] {
  const flat: FlatRow[] = [];
  const path = new Set(wanted ? pathTo(rows, wanted) : []);
  const add = (list: readonly Row[], depth: number) => {
    for (const row of list) {
      const isHidden = hidden.has(categoryOf(row.body));
      const isOnPath = path.has(row);
      if (isHidden && !isOnPath) continue;
      flat.push({ row, depth });
      const isClosed = folded.has(row.key) || (isHidden && row !== wanted);
      const inside = isClosed
        ? isOnPath
          ? row.children.filter((each) => path.has(each))
          : []
        : row.children;
      if (inside.length > 0) add(inside, Math.min(depth + 1, DEEPEST));
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
