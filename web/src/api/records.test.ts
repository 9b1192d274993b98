import { expect, test, vi } from 'vitest';
import { fetchNewestRecords } from './records';

const api = vi.hoisted(() => ({ GET: vi.fn() }));
vi.mock('./client', () => ({ api, unwrap: (answer: unknown) => answer }));

/** A run of so many records. */
function serve(length: number) {
  api.GET.mockImplementation(async (_: string, { params }) => {
    const { before, limit } = params.query;
    const end = Math.min(before, length + 1);
    const first = Math.max(1, end - limit);
    const records = Array.from({ length: end - first }, (_, at) => ({ seq: first + at }));
    return {
      epoch: 'e',
      head_seq: length,
      items: records,
      next_after: null,
      next_before: first > 1 ? first : null,
    };
  });
}

test('the newest records are fetched in order, and it is said if there are more', async () => {
  serve(5_000);
  const { records, isComplete } = await fetchNewestRecords('r', 2_500);
  expect(records.map(({ seq }) => seq)).toEqual(Array.from({ length: 2_500 }, (_, at) => 2_501 + at));
  expect(isComplete).toBe(false);
});

test('a short run is fetched as a whole', async () => {
  serve(1_200);
  const { records, isComplete } = await fetchNewestRecords('r', 2_500);
  expect([records.length, records[0]?.seq, isComplete]).toEqual([1_200, 1, true]);
});
