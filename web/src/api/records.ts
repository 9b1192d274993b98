import type { RunRecord } from '../wire';
import { api, type Found, unwrap } from './client';

/** A page of records, in order. Pieces of text are not among them. */
export interface RecordPage {
  epoch: string;
  head_seq: number;
  records: RunRecord[];
  next_after: number | null;
  next_before: number | null;
}

export interface RecordQuery {
  after?: number;
  before?: number;
  limit?: number;
  kinds?: string;
}

/** How many records a page has that is added to a list. */
export const PAGE = 300;
/** Before this is the end of a run. */
export const LAST = Number.MAX_SAFE_INTEGER;

export async function fetchRecords(
  run: string,
  query: RecordQuery,
  signal?: AbortSignal,
): Promise<RecordPage> {
  const page = await unwrap(
    api.GET('/api/v1/runs/{id}/records', {
      params: { path: { id: run }, query },
      ...(signal && { signal }),
    }),
  );
  return {
    epoch: page.epoch,
    head_seq: page.head_seq,
    records: page.items as unknown as RunRecord[],
    next_after: page.next_after ?? null,
    next_before: page.next_before ?? null,
  };
}

/** All records of some kinds (of all if none is named), page by page, up to `most` of them. */
export async function fetchAllRecords(
  run: string,
  kinds: string,
  most: number,
  signal?: AbortSignal,
): Promise<{ records: RunRecord[]; isComplete: boolean }> {
  const records: RunRecord[] = [];
  let after: number | null = 0;
  while (after !== null && records.length < most) {
    const page: RecordPage = await fetchRecords(run, { after, limit: 1000, ...(kinds && { kinds }) }, signal);
    records.push(...page.records);
    after = page.next_after;
  }
  return { records, isComplete: after === null };
}

/** The newest records of a run, in order, page by page, up to `most` of them. */
export async function fetchNewestRecords(
  run: string,
  most: number,
  signal?: AbortSignal,
): Promise<{ records: RunRecord[]; isComplete: boolean }> {
  const pages: RunRecord[][] = [];
  let count = 0;
  let before: number | null = Number.MAX_SAFE_INTEGER;
  while (before !== null && count < most) {
    const limit = Math.min(1000, most - count);
    const page: RecordPage = await fetchRecords(run, { before, limit }, signal);
    pages.push(page.records);
    count += page.records.length;
    before = page.records.length > 0 ? page.next_before : null;
  }
  return { records: pages.reverse().flat(), isComplete: before === null };
}

export async function fetchRecord(run: string, seq: number): Promise<RunRecord> {
  const record = await unwrap(
    api.GET('/api/v1/runs/{id}/records/{seq}', { params: { path: { id: run, seq } } }),
  );
  return record as unknown as RunRecord;
}

export async function searchRun(
  run: string,
  text: string,
  cursor?: string,
  signal?: AbortSignal,
): Promise<Found> {
  const query = { q: text, run, mode: 'substring' as const, limit: 100, ...(cursor && { cursor }) };
  return unwrap(api.GET('/api/v1/search', { params: { query }, ...(signal && { signal }) }));
}
