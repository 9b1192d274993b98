import { afterEach, expect, test, vi } from 'vitest';
import { askEarly, fetchRecordsEarly } from './early-page';
import { LAST, PAGE } from './records';

const end = { before: LAST, limit: PAGE };
const answers = (...results: (object | Error)[]) => {
  const asked: string[] = [];
  vi.stubGlobal('fetch', async (request: Request) => {
    asked.push(new URL(request.url).pathname + new URL(request.url).search);
    const result = results.shift();
    if (result instanceof Error) throw result;
    return Response.json(result);
  });
  return asked;
};
const page = (epoch: string) => ({ epoch, head_seq: 1, items: [] });

afterEach(() => vi.unstubAllGlobals());

test('the end of the run in the address is asked for once, before anybody wants it', async () => {
  const asked = answers(page('a'), page('b'));
  askEarly('/runs/r1', '?hide=tools');
  expect(asked).toEqual([`/api/v1/runs/r1/records?before=${LAST}&limit=${PAGE}`]);
  expect((await fetchRecordsEarly('r1', end)).epoch).toBe('a');
  expect((await fetchRecordsEarly('r1', end)).epoch).toBe('b');
});

test('another run, another place and other pages are asked for when they are wanted', async () => {
  const asked = answers(page('a'), page('b'));
  askEarly('/runs/r1', '?seq=5');
  askEarly('/', '');
  expect(asked).toEqual([]);
  askEarly('/runs/r1', '');
  expect((await fetchRecordsEarly('r2', end)).epoch).toBe('b');
  expect(asked).toHaveLength(2);
});

test('what failed early is asked for again', async () => {
  answers(new TypeError('no line'), page('b'));
  askEarly('/runs/r1', '');
  expect((await fetchRecordsEarly('r1', end)).epoch).toBe('b');
});
