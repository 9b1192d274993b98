import type { Change, ChangePage, ChangeQuery } from '../../api/changes';

/** What is known of the changes of files in a run. */
export interface Changes {
  /** `git`: the net changes since the run's start; `reported`: each change that a tool call reported, in order. */
  basis: ChangePage['basis'];
  startCommit: string | null;
  epoch: string;
  items: Change[];
  /** Up to this record the run was looked through. */
  after: number;
  /** Whether that is all there was. */
  isComplete: boolean;
}

/** Reported changes are fetched from a thousand calls at a time, up to fifty thousand at once. */
const PAGE = 1_000;
const MOST_PAGES = 50;

/** Net changes as they are now, where git knows them; otherwise what was reported. */
export async function loadChanges(
  fetch: (query: ChangeQuery) => Promise<ChangePage>,
  known: Changes | undefined,
): Promise<Changes> {
  if (known?.basis === 'reported') return loadReported(fetch, known);
  const page = await fetch({ limit: PAGE });
  if (page.basis === 'reported') return loadReported(fetch, undefined, page);
  return {
    basis: 'git',
    startCommit: page.start_commit,
    epoch: page.epoch,
    items: page.items,
    after: page.head_seq,
    isComplete: !page.is_truncated,
  };
}

/** Looks through what came after `known`; through all of it if that is another journal, or nothing is known. */
export async function loadReported(
  fetch: (query: ChangeQuery) => Promise<ChangePage>,
  known: Changes | undefined,
  first?: ChangePage,
): Promise<Changes> {
  const items = [...(known?.items ?? [])];
  let after = known?.after ?? 0;
  let page = first;
  for (let count = 1; ; count += 1) {
    page ??= await fetch({ reported: true, after, limit: PAGE });
    const { epoch, next_after } = page;
    if (known && epoch !== known.epoch) return loadReported(fetch, undefined);
    items.push(...page.items);
    const done = { basis: 'reported' as const, startCommit: null, epoch, items };
    if (next_after === null) {
      after = Math.max(after, page.head_seq, page.items.at(-1)?.seq ?? 0);
      return { ...done, after, isComplete: true };
    }
    after = next_after;
    if (count === MOST_PAGES) return { ...done, after, isComplete: false };
    page = undefined;
  }
}
