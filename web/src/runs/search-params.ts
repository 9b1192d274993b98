import type { Every } from '../run/search-params';

/** What the address of the list of runs says. */
export interface RunsSearch {
  state?: 'active' | 'waiting' | 'ended';
  workspace?: string;
  backend?: string;
  new?: 1;
}

const STATES = ['active', 'waiting', 'ended'] as const;

export function parseRunsSearch(search: Record<string, unknown>): RunsSearch {
  // The router keeps what the address says about a name that is left out here.
  const parsed: Every<RunsSearch> = {
    state: undefined,
    workspace: undefined,
    backend: undefined,
    new: undefined,
  };
  const state = STATES.find((known) => known === search.state);
  if (state) parsed.state = state;
  if (typeof search.workspace === 'string' && search.workspace !== '') parsed.workspace = search.workspace;
  if (typeof search.backend === 'string' && search.backend !== '') parsed.backend = search.backend;
  if (Number(search.new) === 1) parsed.new = 1;
  return parsed as RunsSearch;
}
