import { api, type Schemas, unwrap } from './client';

/** What a run changed: the net changes by git, or a page of what tool calls reported. */
export type ChangePage = Schemas['Changes'];
export type Change = Schemas['Change'];
type FailurePage = Schemas['FailurePage'];

export interface ChangeQuery {
  reported?: boolean;
  path?: string;
  after?: number;
  before?: number;
  limit?: number;
}

export async function fetchChanges(
  run: string,
  query: ChangeQuery,
  signal?: AbortSignal,
): Promise<ChangePage> {
  return unwrap(
    api.GET('/api/v1/runs/{id}/changes', {
      params: { path: { id: run }, query },
      ...(signal && { signal }),
    }),
  );
}

export async function fetchFailures(
  run: string,
  query: { after?: number; before?: number; limit?: number },
  signal?: AbortSignal,
): Promise<FailurePage> {
  return unwrap(
    api.GET('/api/v1/runs/{id}/failures', {
      params: { path: { id: run }, query },
      ...(signal && { signal }),
    }),
  );
}
