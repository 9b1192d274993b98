import type { RunsQuery } from '../api/runs';
import type { RunSummary } from '../wire';
import type { RunsSearch } from './search-params';

/** What the server is asked, by what the address says. */
export function queryOf(search: RunsSearch): RunsQuery {
  return {
    ...(search.workspace && { workspace: search.workspace }),
    ...(search.backend && { backend: search.backend }),
    ...(search.state && { state: search.state }),
  };
}

function hasEnded(run: RunSummary): boolean {
  return run.activity.state === 'ended';
}

export function isWaiting(run: RunSummary): boolean {
  return !hasEnded(run) && (run.pending > 0 || run.activity.state === 'waiting');
}

function matches(run: RunSummary, search: RunsSearch): boolean {
  if (search.workspace && run.workspace !== search.workspace) return false;
  if (search.backend && run.backend !== search.backend) return false;
  if (search.state === 'active') return !hasEnded(run);
  if (search.state === 'ended') return hasEnded(run);
  if (search.state === 'waiting') return isWaiting(run);
  return true;
}

/** What is newer of two accounts of one run. */
export function newest(one: RunSummary, other: RunSummary | undefined): RunSummary {
  return other && other.head_seq >= one.head_seq ? other : one;
}

/** Who waits for a person comes first, then what goes on, then what has ended; the newest first in each. */
function rank(run: RunSummary): number {
  if (isWaiting(run)) return 0;
  return hasEnded(run) ? 2 : 1;
}

/** The list: what was fetched, with what has happened since, and runs that have begun since. */
export function deriveRuns(
  fetched: readonly RunSummary[],
  live: ReadonlyMap<string, RunSummary>,
  search: RunsSearch,
): RunSummary[] {
  const runs = new Map<string, RunSummary>();
  for (const run of fetched) runs.set(run.id, newest(run, live.get(run.id)));
  for (const run of live.values()) if (!runs.has(run.id)) runs.set(run.id, run);
  return [...runs.values()]
    .filter((run) => matches(run, search))
    .sort(
      (a, b) => rank(a) - rank(b) || b.started_at.localeCompare(a.started_at) || b.id.localeCompare(a.id),
    );
}

/** How long a run took, or takes so far. */
export function elapsedOf(run: RunSummary, now: number): number {
  const end = run.ended_at ? Date.parse(run.ended_at) : now;
  return Math.max(0, end - Date.parse(run.started_at));
}
