import { expect, test } from 'vitest';
import type { RecordQuery } from '../../api/records';
import type { RunRecord } from '../../wire';
import { agent } from '../records-for-tests';
import { loadChanges } from './load-changes';

const call = (seq: number, path?: string) =>
  agent(seq, 'tool_finished', {
    item: `t${seq}`,
    status: 'completed',
    output: '',
    changes: path ? [{ path, kind: 'modified' }] : [],
  });

function journal(records: RunRecord[], head: number, epoch = 'e') {
  const asked: number[] = [];
  const fetch = async ({ after = 0, limit = 0 }: RecordQuery) => {
    asked.push(after);
    const found = records.filter((each) => each.seq > after);
    const page = found.slice(0, limit);
    const next_after = found.length > page.length ? (page.at(-1)?.seq ?? null) : null;
    return { epoch, head_seq: head, records: page, next_after, next_before: null };
  };
  return { asked, fetch };
}

test('only what came since is fetched, and added', async () => {
  const early = journal([call(1, 'a'), call(2)], 70);
  const known = await loadChanges(early.fetch, undefined);
  expect(known.records.map((each) => each.seq)).toEqual([1]);
  const later = journal([call(1, 'a'), call(2), call(80, 'b')], 90);
  const next = await loadChanges(later.fetch, known);
  expect(later.asked).toEqual([70]);
  expect(next).toMatchObject({ after: 90, isComplete: true });
  expect(next.records.map((each) => each.seq)).toEqual([1, 80]);
  expect(known.records).toHaveLength(1);
});

test('another journal is looked through from its beginning', async () => {
  const known = await loadChanges(journal([call(1, 'a')], 70).fetch, undefined);
  const next = await loadChanges(journal([call(3, 'b')], 4, 'f').fetch, known);
  expect(next).toMatchObject({ epoch: 'f', after: 4 });
  expect(next.records.map((each) => each.seq)).toEqual([3]);
});

test('a very long run is looked through in parts', async () => {
  const calls = Array.from({ length: 50_001 }, (_, index) => call(index + 1, 'a'));
  const { fetch } = journal(calls, 50_001);
  const part = await loadChanges(fetch, undefined);
  expect(part).toMatchObject({ after: 50_000, isComplete: false });
  expect(await loadChanges(fetch, part)).toMatchObject({ after: 50_001, isComplete: true });
});
