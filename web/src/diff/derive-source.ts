import type { FileChange } from '../wire';
import { type Diff, type DiffRow, diffOfTexts } from './derive-diff';
import { diffOfHunks } from './derive-hunks';

/** What is compared: a change as the agent tells it, or two texts. */
export type DiffSource =
  | { change: FileChange }
  /** `hasNumbers` is false for pieces of a file, whose place in it is not known. */
  | { path: string; old: string; new: string; hasNumbers?: boolean };

export function pathOf(source: DiffSource): string {
  return 'change' in source ? source.change.path : source.path;
}

/** The diff, or null where nobody told what has changed. */
export function deriveSource(source: DiffSource): Diff | null {
  if (!('change' in source)) return diffOfTexts(source.old, source.new, source.hasNumbers ?? true);
  const { diff, lines } = source.change;
  if (diff === undefined) return null;
  const read = diffOfHunks(diff);
  return lines ? { ...read, added: lines[0], removed: lines[1] } : read;
}

/** Opens folds: `opened` has the rows that were asked for. */
export function openFolds(rows: readonly DiffRow[], opened: ReadonlySet<DiffRow>): readonly DiffRow[] {
  if (opened.size === 0) return rows;
  return rows.flatMap((row) => (row.kind === 'fold' && opened.has(row) ? row.lines : [row]));
}

/** The highest number of a line. */
export function highestNumber(rows: readonly DiffRow[]): number {
  let highest = 0;
  for (const row of rows) {
    if ('old' in row) highest = Math.max(highest, row.old ?? 0);
    if ('new' in row) highest = Math.max(highest, row.new ?? 0);
  }
  return highest;
}

const SIGNS = { context: ' ', removed: '-', added: '+' } as const;

/** A diff as text, to be copied. */
export function textOfDiff(diff: Diff): string {
  return diff.rows
    .flatMap((row) => (row.kind === 'fold' ? row.lines : [row]))
    .map((row) => (row.kind === 'note' ? `\\ ${row.text}` : `${SIGNS[row.kind]}${row.text}`))
    .join('\n');
}
