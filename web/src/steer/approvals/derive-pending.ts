import type { Approval } from '../../wire';

/** What waits: as the feed tells, with what only the list has; the oldest first. */
export function mergePending(told: readonly Approval[], listed: readonly Approval[] | undefined): Approval[] {
  const all = new Map<string, Approval>();
  for (const each of listed ?? []) all.set(each.request, each);
  for (const each of told) {
    const known = all.get(each.request);
    all.set(each.request, each.data === null && known ? known : each);
  }
  return oldestFirst([...all.values()]);
}

/** By when they were asked; what was asked at once in one run, by its records. */
export function oldestFirst(approvals: readonly Approval[]): Approval[] {
  return [...approvals].sort((a, b) => {
    if (a.run === b.run) return a.seq - b.seq;
    return Date.parse(a.asked_at) - Date.parse(b.asked_at) || a.run.localeCompare(b.run);
  });
}
