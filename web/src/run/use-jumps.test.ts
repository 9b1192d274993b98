import { expect, test } from 'vitest';
import type { RecordQuery } from '../api/records';
import type { RunRecord } from '../wire';
import { agent } from './records-for-tests';
import { findNearest } from './use-jumps';

const call = (seq: number, status: string) =>
  agent(seq, 'tool_finished', { item: `${seq}`, status, output: '' });

function source(records: RunRecord[]) {
  let asked = 0;
  const fetch = async ({ after, before, limit = 200 }: RecordQuery) => {
    asked += 1;
    const found = records.filter((each) => each.seq > (after ?? 0) && each.seq < (before ?? 1e9));
    const page = after === undefined ? found.slice(-limit) : found.slice(0, limit);
    const more = found.length > page.length;
    return {
      records: page,
      next_after: more ? (page.at(-1)?.seq ?? null) : null,
      next_before: more ? (page[0]?.seq ?? null) : null,
    };
  };
  return { fetch, asked: () => asked };
}

test('the nearest error is found over several pages, in both directions', async () => {
  const records = Array.from({ length: 900 }, (_, index) =>
    call(index + 1, index + 1 === 700 ? 'failed' : 'completed'),
  );
  const { fetch } = source(records);
  expect(await findNearest(fetch, 'errors', 3, true)).toBe(700);
  expect(await findNearest(fetch, 'errors', 900, false)).toBe(700);
  expect(await findNearest(fetch, 'errors', 700, true)).toBeNull();
});

test('a call without changes is no edit', async () => {
  expect(await findNearest(source([call(1, 'completed')]).fetch, 'edits', 0, true)).toBeNull();
});

test('a search for what is not there ends', async () => {
  const records = Array.from({ length: 40_000 }, (_, index) => call(index + 1, 'completed'));
  const { fetch, asked } = source(records);
  expect(await findNearest(fetch, 'errors', 0, true)).toBeNull();
  expect(asked()).toBeLessThanOrEqual(40);
});
