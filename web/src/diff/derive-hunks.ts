import { type Diff, type DiffRow, finish } from './derive-diff';

const HEADER = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/** Reads the hunks of a unified diff. What cannot be read is shown as a note: no line is lost. */
export function diffOfHunks(diff: string): Diff {
  const rows: DiffRow[] = [];
  let old: number | null = null;
  let now: number | null = null;
  let oldLeft = 0;
  let newLeft = 0;
  const lines = diff.split('\n');
  if (lines.at(-1) === '') lines.pop();
  for (const line of lines) {
    const isInside = oldLeft > 0 || newLeft > 0;
    // Lines of a file have a sign before them, so this is none, even where the counts are wrong.
    const header = HEADER.exec(line);
    if (header) {
      const first = Number(header[1]);
      const gap = old === null ? first - 1 : first - old;
      if (gap > 0) rows.push({ kind: 'fold', count: gap, lines: [] });
      else if (old !== null) rows.push({ kind: 'fold', count: null, lines: [] });
      old = first;
      now = Number(header[3]);
      oldLeft = Number(header[2] ?? 1);
      newLeft = Number(header[4] ?? 1);
      // An empty side is numbered by the line before it.
      if (oldLeft === 0) old += 1;
      if (newLeft === 0) now += 1;
      continue;
    }
    const text = line.slice(1).replace(/\r$/, '');
    const sign = line[0];
    if (sign === '\\') rows.push({ kind: 'note', text: text.trim() });
    else if (!isInside && isFileHeader(line)) continue;
    else if (sign === '+') {
      rows.push({ kind: 'added', new: now, text, marks: [] });
      now = next(now);
      newLeft -= 1;
    } else if (sign === '-') {
      rows.push({ kind: 'removed', old, text, marks: [] });
      old = next(old);
      oldLeft -= 1;
    } else if (sign === ' ' || line === '' || line === '\r') {
      rows.push({ kind: 'context', old, new: now, text });
      old = next(old);
      now = next(now);
      oldLeft -= 1;
      newLeft -= 1;
    } else rows.push({ kind: 'note', text: line });
  }
  return finish(rows);
}

function next(line: number | null): number | null {
  return line === null ? null : line + 1;
}

function isFileHeader(line: string): boolean {
  return /^(--- |\+\+\+ |diff --git |index )/.test(line);
}
