import type { RunSummary } from '../wire';
import { api, unwrap } from './client';

export interface RunsQuery {
  workspace?: string;
  backend?: string;
  state?: 'active' | 'working' | 'waiting' | 'ended';
  cursor?: string;
  limit?: number;
}

export interface SummaryPage {
  items: RunSummary[];
  next: string | null;
}

export async function fetchRuns(query: RunsQuery, signal?: AbortSignal): Promise<SummaryPage> {
  const page = await unwrap(api.GET('/api/v1/runs', { params: { query }, ...(signal && { signal }) }));
  return { items: page.items as unknown as RunSummary[], next: page.next ?? null };
}

export async function fetchRun(id: string, signal?: AbortSignal): Promise<RunSummary> {
  const run = await unwrap(
    api.GET('/api/v1/runs/{id}', { params: { path: { id } }, ...(signal && { signal }) }),
  );
  return run as unknown as RunSummary;
}
