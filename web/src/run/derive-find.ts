/** The next hit from where the reader is; round again at the end. Hits are in order. */
export function nearestHit(hits: readonly number[], at: number, isForward: boolean): number | null {
  const found = isForward ? hits.find((hit) => hit > at) : hits.findLast((hit) => hit < at);
  return found ?? (isForward ? hits[0] : hits.at(-1)) ?? null;
}
