import type { Approval } from '../../wire';

/** What waits: as the feed tells, with what only the list has; the oldest first. */
export function mergePending(told: readonly Approval[], listed: readonly Approval[] | undefined): Approval[] {
  const all = new Map<string, Approval>();
  for (const each of listed ?? []) all.set(each.request, each);
  for (const each of told) {
    const known = all.get(each.request);
    all.set(each.request, each.data === null && known ? known : each);
  }
  return [...all.values()].sort((a, b) => a.seq - b.seq);
}
