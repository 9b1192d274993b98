import { diffArrays, parsePatch, type StructuredPatchHunk } from 'diff';
import type { FileChange } from '../../wire';

/** Lines of the file as the run found it, by number, or lines that the run wrote. */
type Part = { from: number; count: number } | { texts: string[] };
/** One line, either way. */
type Line = number | string;

/** A line of the diff to be written, with the numbers it has, or would have, before and after. */
interface Entry {
  sign: ' ' | '+' | '-';
  text: string;
  old: number;
  now: number;
}

const MOST_EDITS = 2_000;
/** Lines shown around a change. */
const AROUND = 3;

/**
 * What all changes of a file come to, as one unified diff; the file itself is not needed. Null where that cannot be
 * told: a change came without its lines, or does not fit what is known, because something else changed the file too.
 */
export function deriveNet(changes: readonly FileChange[]): string | null {
  const isNew = changes[0]?.kind === 'added';
  let parts: Part[] = isNew ? [] : [{ from: 1, count: Number.POSITIVE_INFINITY }];
  const known = new Map<number, string>();
  for (const [index, { kind, diff }] of changes.entries()) {
    if (!diff || (kind !== 'modified' && !(isNew && index === 0))) return null;
    const hunks = hunksOf(diff);
    if (!hunks) return null;
    // From the last one on, so that the numbers of the others stay right.
    for (const hunk of hunks.reverse()) {
      const next = applied(parts, hunk, known);
      if (!next) return null;
      parts = next;
    }
  }
  const entries = entriesOf(parts, known);
  return entries && written(entries);
}

function hunksOf(diff: string): StructuredPatchHunk[] | null {
  try {
    return parsePatch(diff).flatMap(({ hunks }) => hunks);
  } catch {
    return null;
  }
}

/** The parts after a hunk; null if it does not fit. What it says of the file's first lines is learnt. */
function applied(
  parts: readonly Part[],
  hunk: StructuredPatchHunk,
  known: Map<number, string>,
): Part[] | null {
  const cut = cutOut(parts, hunk.oldStart - 1, hunk.oldLines);
  if (!cut) return null;
  const lines: Line[] = [];
  let at = 0;
  for (const each of hunk.lines) {
    const [sign, text] = [each[0], each.slice(1)];
    if (sign === '+') lines.push(text);
    if (sign === '+' || sign === '\\') continue;
    const line = cut.lines[at];
    at += 1;
    if (line === undefined) return null;
    if (typeof line === 'number' && !known.has(line)) known.set(line, text);
    if ((typeof line === 'number' ? known.get(line) : line) !== text) return null;
    if (sign !== '-') lines.push(line);
  }
  return [...cut.before, ...partsOf(lines), ...cut.after];
}

function cutOut(parts: readonly Part[], skip: number, count: number) {
  const before: Part[] = [];
  const lines: Line[] = [];
  const after: Part[] = [];
  let [left, wanted] = [skip, count];
  for (const part of parts) {
    const size = 'texts' in part ? part.texts.length : part.count;
    const head = Math.min(left, size);
    const middle = Math.min(wanted, size - head);
    if (head > 0) before.push(sliced(part, 0, head));
    for (let at = head; at < head + middle; at += 1) {
      lines.push('texts' in part ? (part.texts[at] ?? '') : part.from + at);
    }
    if (head + middle < size) after.push(sliced(part, head + middle, size));
    left -= head;
    wanted -= middle;
  }
  return left > 0 || wanted > 0 ? null : { before, lines, after };
}

function sliced(part: Part, from: number, to: number): Part {
  if ('texts' in part) return { texts: part.texts.slice(from, to) };
  return { from: part.from + from, count: to - from };
}

function partsOf(lines: readonly Line[]): Part[] {
  const parts: Part[] = [];
  for (const line of lines) {
    const last = parts.at(-1);
    if (typeof line === 'string') {
      if (last && 'texts' in last) last.texts.push(line);
      else parts.push({ texts: [line] });
    } else if (last && 'from' in last && last.from + last.count === line) last.count += 1;
    else parts.push({ from: line, count: 1 });
  }
  return parts;
}

/** All lines that are known or changed, in order; null if one is gone that nobody has named. */
function entriesOf(parts: readonly Part[], known: ReadonlyMap<number, string>): Entry[] | null {
  const entries: Entry[] = [];
  const numbers = [...known.keys()].sort((one, other) => one - other);
  let [old, now] = [1, 1];
  let added: string[] = [];
  for (const part of [...parts, null]) {
    if (part && 'texts' in part) {
      added.push(...part.texts);
      continue;
    }
    const removed: string[] = [];
    for (let line = old; part && line < part.from; line += 1) {
      const text = known.get(line);
      if (text === undefined) return null;
      removed.push(text);
    }
    for (const { value, ...change } of compared(removed, added)) {
      const sign = change.added ? '+' : change.removed ? '-' : ' ';
      for (const text of value) {
        entries.push({ sign, text, old, now });
        if (sign !== '+') old += 1;
        if (sign !== '-') now += 1;
      }
    }
    added = [];
    if (!part) break;
    for (const line of numbers) {
      if (line < old || line >= old + part.count) continue;
      entries.push({ sign: ' ', text: known.get(line) ?? '', old: line, now: now + line - old });
    }
    old += part.count;
    now += part.count;
  }
  return entries;
}

/** Texts that differ very much are not worth the search for what is the same in them. */
function compared(removed: string[], added: string[]) {
  const all = [
    { value: removed, removed: true, added: false },
    { value: added, removed: false, added: true },
  ];
  return diffArrays(removed, added, { maxEditLength: MOST_EDITS }) ?? all;
}

/** A unified diff with a few lines around each change, as far as they are known. */
function written(entries: readonly Entry[]): string {
  const follows = (at: number) => {
    const [one, next] = [entries[at - 1], entries[at]];
    return one !== undefined && next?.old === one.old + (one.sign === '+' ? 0 : 1);
  };
  const isShown = entries.map(({ sign }) => sign !== ' ');
  const spread = (from: number, step: 1 | -1) => {
    for (let at = from, left = 0; at >= 0 && at < entries.length; at += step) {
      if (!follows(step === 1 ? at : at + 1)) left = 0;
      if (entries[at]?.sign !== ' ') left = AROUND;
      else if (left > 0) {
        isShown[at] = true;
        left -= 1;
      }
    }
  };
  spread(0, 1);
  spread(entries.length - 1, -1);
  const hunks: Entry[][] = [];
  for (const [at, entry] of entries.entries()) {
    if (!isShown[at]) continue;
    if (at > 0 && isShown[at - 1] && follows(at)) hunks.at(-1)?.push(entry);
    else hunks.push([entry]);
  }
  return hunks.map(textOf).join('\n');
}

function textOf(hunk: readonly Entry[]): string {
  const [first] = hunk;
  const side = (line: number, sign: Entry['sign']) => {
    const count = hunk.filter((each) => each.sign !== sign).length;
    return `${count === 0 ? line - 1 : line},${count}`;
  };
  const head = `@@ -${side(first?.old ?? 1, '+')} +${side(first?.now ?? 1, '-')} @@`;
  return [head, ...hunk.map(({ sign, text }) => `${sign}${text}`)].join('\n');
}
