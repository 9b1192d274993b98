import { expect, test } from 'vitest';
import type { Change, ChangePage, ChangeQuery } from '../../api/changes';
import { loadChanges } from './load-changes';

const change = (seq: number | null, path: string): Change => ({
  path,
  kind: 'modified',
  added: 1,
  removed: 0,
  diff: null,
  seq,
  at: null,
});

function journal(calls: Change[], head: number, epoch = 'e') {
  const asked: (number | undefined)[] = [];
  const fetch = async ({ after, limit = 0 }: ChangeQuery): Promise<ChangePage> => {
    asked.push(after);
    const found = calls.filter((each) => (each.seq ?? 0) > (after ?? 0));
    const items = found.slice(0, limit);
    const next_after = found.length > items.length ? (items.at(-1)?.seq ?? null) : null;
    return {
      basis: 'reported',
      start_commit: null,
      compared_at: null,
      is_truncated: false,
      epoch,
      head_seq: head,
      items,
      next: null,
      next_after,
      next_before: null,
    };
  };
  return { asked, fetch };
}

test('net changes are fetched as they are now', async () => {
  const asked: ChangeQuery[] = [];
  const fetch = async (query: ChangeQuery): Promise<ChangePage> => {
    asked.push(query);
    const page = await journal([change(null, 'a')], 70).fetch({ limit: 9, after: -1 });
    return { ...page, basis: 'git', start_commit: 'c0ffee', items: [change(null, `a${asked.length}`)] };
  };
  const known = await loadChanges(fetch, undefined);
  expect(known).toMatchObject({ basis: 'git', startCommit: 'c0ffee', after: 70, isComplete: true });
  const next = await loadChanges(fetch, known);
  expect(next.items.map((each) => each.path)).toEqual(['a2']);
  expect(asked.every((query) => !query.reported && query.after === undefined)).toBe(true);
});

test('of what was reported only what came since is fetched, and added', async () => {
  const early = journal([change(1, 'a')], 70);
  const known = await loadChanges(early.fetch, undefined);
  expect(known.items.map((each) => each.seq)).toEqual([1]);
  const later = journal([change(1, 'a'), change(80, 'b')], 90);
  const next = await loadChanges(later.fetch, known);
  expect(later.asked).toEqual([70]);
  expect(next).toMatchObject({ after: 90, isComplete: true });
  expect(next.items.map((each) => each.seq)).toEqual([1, 80]);
  expect(known.items).toHaveLength(1);
});

test('another journal is looked through from its beginning', async () => {
  const known = await loadChanges(journal([change(1, 'a')], 70).fetch, undefined);
  const next = await loadChanges(journal([change(3, 'b')], 4, 'f').fetch, known);
  expect(next).toMatchObject({ epoch: 'f', after: 4 });
  expect(next.items.map((each) => each.seq)).toEqual([3]);
});

test('a very long run is looked through in parts', async () => {
  const calls = Array.from({ length: 50_001 }, (_, index) => change(index + 1, 'a'));
  const { fetch } = journal(calls, 50_001);
  const part = await loadChanges(fetch, undefined);
  expect(part).toMatchObject({ after: 50_000, isComplete: false });
  expect(await loadChanges(fetch, part)).toMatchObject({ after: 50_001, isComplete: true });
});
