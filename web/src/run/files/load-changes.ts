import type { RecordPage, RecordQuery } from '../../api/records';
import type { RunRecord } from '../../wire';

/** What is known of the changes of files in a run. */
export interface Changes {
  epoch: string;
  /** Calls that changed files, in order. */
  records: RunRecord[];
  /** Up to this record the run was looked through. */
  after: number;
  /** Whether that is all there was. */
  isComplete: boolean;
}

/** Calls are looked through a thousand at a time, up to fifty thousand at once. */
const PAGE = 1_000;
const MOST_PAGES = 50;

function hasChanges({ event }: RunRecord): boolean {
  return event.type === 'tool_finished' && (event.data.changes?.length ?? 0) > 0;
}

/** Looks through what came after `known`; through all of it if that is another journal, or nothing is known. */
export async function loadChanges(
  fetch: (query: RecordQuery) => Promise<RecordPage>,
  known: Changes | undefined,
): Promise<Changes> {
  const records = [...(known?.records ?? [])];
  let after = known?.after ?? 0;
  for (let count = 1; ; count += 1) {
    const page = await fetch({ after, limit: PAGE, kinds: 'tool_finished' });
    const { epoch } = page;
    if (known && epoch !== known.epoch) return loadChanges(fetch, undefined);
    records.push(...page.records.filter(hasChanges));
    if (page.next_after === null) {
      after = Math.max(after, page.head_seq, page.records.at(-1)?.seq ?? 0);
      return { epoch, records, after, isComplete: true };
    }
    after = page.next_after;
    if (count === MOST_PAGES) return { epoch, records, after, isComplete: false };
  }
}
