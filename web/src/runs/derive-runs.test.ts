import { expect, test } from 'vitest';
import type { RunSummary } from '../wire';
import { deriveRuns, elapsedOf, queryOf } from './derive-runs';
import { parseRunsSearch } from './search-params';

function run(id: string, change: Partial<RunSummary> = {}): RunSummary {
  const started_at = `2026-01-01T00:00:0${id}Z`;
  const activity = { state: 'thinking' };
  return {
    id,
    started_at,
    activity,
    pending: 0,
    head_seq: 1,
    workspace: '/w',
    backend: 'demo',
    ...change,
  } as RunSummary;
}

const ended = { activity: { state: 'ended', reason: 'completed' } } as Partial<RunSummary>;
const waiting = { activity: { state: 'waiting', for: 'question' }, pending: 1 } as Partial<RunSummary>;
const ids = (runs: RunSummary[]) => runs.map((each) => each.id);
const map = (...runs: RunSummary[]) => new Map(runs.map((each) => [each.id, each]));

test('who waits comes first, then what goes on, then what has ended, the newest first', () => {
  const runs = [run('1', ended), run('2', waiting), run('3'), run('4', ended), run('5')];
  expect(ids(deriveRuns(runs, new Map(), {}))).toEqual(['2', '5', '3', '4', '1']);
});

test('what the stream tells replaces what was fetched, unless it is older', () => {
  const [found] = deriveRuns([run('1')], map(run('1', { head_seq: 9, ...ended })), {});
  expect(found?.activity.state).toBe('ended');
  const [older] = deriveRuns([run('1', { head_seq: 9, ...ended })], map(run('1')), {});
  expect(older?.activity.state).toBe('ended');
});

test('a run that has begun meanwhile is there if it fits the filters', () => {
  const live = map(run('1'), run('2', { workspace: '/other' }));
  expect(ids(deriveRuns([], live, { workspace: '/w' }))).toEqual(['1']);
});

test('a run that no longer fits the filters goes', () => {
  const live = map(run('1', { head_seq: 2, ...ended }));
  expect(deriveRuns([run('1')], live, { state: 'active' })).toEqual([]);
  expect(ids(deriveRuns([run('1')], live, { state: 'ended' }))).toEqual(['1']);
});

test('filters are what the server understands', () => {
  expect(queryOf({ state: 'waiting', backend: 'demo' })).toEqual({ state: 'waiting', backend: 'demo' });
  expect(queryOf({ state: 'ended' })).toEqual({ state: 'ended' });
});

test('an address with nonsense is the list of all', () => {
  expect(parseRunsSearch({ state: 'x', workspace: 3, backend: '', new: 'y' })).toEqual({});
});

test('a clock that is behind gives no negative time', () => {
  expect(elapsedOf(run('1'), 0)).toBe(0);
});
