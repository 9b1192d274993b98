import type { Row } from '../row';

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** Whether two things have the same fields, looking no deeper than `depth`. */
function isSame(one: unknown, other: unknown, depth: number): boolean {
  if (Object.is(one, other) || (isEmptyList(one) && isEmptyList(other))) return true;
  if (depth === 0 || typeof one !== 'object' || typeof other !== 'object' || !one || !other) return false;
  const keys = Object.keys(one);
  if (keys.length !== Object.keys(other).length) return false;
  return keys.every((key) =>
    isSame((one as Record<string, unknown>)[key], (other as Record<string, unknown>)[key], depth - 1),
  );
}

/**
 * Whether a row that was made anew shows what the one before showed. Rows are made anew as a whole when a page is added
 * in front; what they show comes from the same records, so their fields are the very same values.
 */
export function isSameRow(one: Row, other: Row): boolean {
  if (one === other) return true;
  if (one.key !== other.key || one.linkSeq !== other.linkSeq) return false;
  if (one.children.length !== other.children.length) return false;
  // A call has fields of its own, and places in the raw log beneath them.
  return isSame(one.body, other.body, 4) && isSame(one.raw, other.raw, 2);
}
