import { fetchRecords, LAST, PAGE, type RecordPage, type RecordQuery } from './records';

let early: { run: string; page: Promise<RecordPage> } | null = null;

/** Asks for the end of the run that the address names, while the parts that will show it are still being loaded. */
export function askEarly(path: string, search: string): void {
  const run = /^\/runs\/([^/]+)$/.exec(path)?.[1];
  if (run === undefined || new URLSearchParams(search).has('seq')) return;
  const page = fetchRecords(decodeURIComponent(run), { before: LAST, limit: PAGE });
  // It is asked for again, and then what went wrong is told.
  page.catch(() => {});
  early = { run: decodeURIComponent(run), page };
}

/** A page of records: the one that was asked for early, once, if it is that one. */
export function fetchRecordsEarly(run: string, query: RecordQuery): Promise<RecordPage> {
  const asked = early;
  early = null;
  const isIt = asked?.run === run && query.before === LAST && query.limit === PAGE;
  return isIt ? asked.page.catch(() => fetchRecords(run, query)) : fetchRecords(run, query);
}
