import { diffWordsWithSpace } from 'diff';
import type { Mark } from '../code/derive-spans';

const MOST_CHARS = 500;
/** Lines that share less than this are told apart as lines, not by their words. */
const LEAST_SHARED = 0.4;

const NONE: { old: Mark[]; new: Mark[] } = { old: [], new: [] };

/** What differs inside a line that was replaced by another, if the two are much alike. */
export function deriveIntraline(before: string, after: string): { old: Mark[]; new: Mark[] } {
  if (before === after || before.length > MOST_CHARS || after.length > MOST_CHARS) return NONE;
  const changes = diffWordsWithSpace(before, after, { maxEditLength: 100 });
  if (!changes) return NONE;
  const marks: { old: Mark[]; new: Mark[] } = { old: [], new: [] };
  let atOld = 0;
  let atNew = 0;
  let shared = 0;
  for (const { value, added, removed } of changes) {
    if (removed) push(marks.old, atOld, value.length);
    else if (added) push(marks.new, atNew, value.length);
    else shared += value.trim().length;
    if (!added) atOld += value.length;
    if (!removed) atNew += value.length;
  }
  const longer = Math.max(before.trim().length, after.trim().length, 1);
  return shared / longer < LEAST_SHARED ? NONE : marks;
}

function push(marks: Mark[], from: number, length: number): void {
  const last = marks.at(-1);
  if (last && last.to === from) last.to = from + length;
  else marks.push({ from, to: from + length });
}
