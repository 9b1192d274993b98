/** All names of `T`, each with its value or without one. */
export type Every<T> = { [Name in keyof Required<T>]: T[Name] | undefined };

/** What the address of a run's page says. */
export interface RunSearch {
  /** The record that the page shows, for permalinks. */
  seq?: number;
  /** Categories of rows that are not shown. */
  hide?: string[];
  /** What is looked for; empty if somebody is about to say it. */
  find?: string;
  view?: 'files';
}

export function parseRunSearch(search: Record<string, unknown>): RunSearch {
  // The router keeps what the address says about a name that is left out here.
  const parsed: Every<RunSearch> = { seq: undefined, hide: undefined, find: undefined, view: undefined };
  const seq = Number(search.seq);
  if (Number.isSafeInteger(seq) && seq > 0) parsed.seq = seq;
  const hide = Array.isArray(search.hide) ? search.hide : [search.hide];
  const kinds = hide.filter((kind): kind is string => typeof kind === 'string' && /^[a-z_]+$/.test(kind));
  if (kinds.length > 0) parsed.hide = [...new Set(kinds)];
  // The router reads `find=42` as a number.
  if (['string', 'number', 'boolean'].includes(typeof search.find)) parsed.find = String(search.find);
  if (search.view === 'files') parsed.view = 'files';
  return parsed as RunSearch;
}
