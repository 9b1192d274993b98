import { expect, test } from 'vitest';
import type { RunSummary } from '../wire';
import { Feeds } from './feeds';

const run = (id: string, state = 'thinking') => ({ id, activity: { state } }) as RunSummary;

function feeds() {
  const said: unknown[] = [];
  const feeds = new Feeds((message) => said.push(message) > 0);
  const told: string[][] = [];
  feeds.watch('runs', () =>
    told.push([...feeds.runs.values()].map((each) => `${each.id} ${each.activity.state}`)),
  );
  const tell = (is_all: boolean, ...runs: RunSummary[]) =>
    feeds.receive({ type: 'runs', version: 1, is_all, runs });
  return { feeds, told, tell, said };
}

test('a run that has ended stays ended when a list of all leaves it out', () => {
  const { told, tell, feeds: each } = feeds();
  tell(true, run('a'), run('b'));
  tell(false, run('a', 'ended'));
  tell(true, run('b'));
  expect(told.at(-1)).toEqual(['a ended', 'b thinking']);
  expect([...each.left]).toEqual(['a']);
});

test('fields that have changed are put over the ones that are known', () => {
  const { tell, feeds: each } = feeds();
  tell(true, { ...run('a'), title: 'A', pending: 1 });
  each.receive({ type: 'runs_changed', version: 2, runs: [{ id: 'a', pending: 0 }, run('b')] });
  expect([...each.runs.values()]).toMatchObject([
    { id: 'a', title: 'A', pending: 0, activity: { state: 'thinking' } },
    { id: 'b' },
  ]);
});

test('a run that was deleted is asked about, and then forgotten, whether or not it was told of', () => {
  const { told, tell, feeds: each } = feeds();
  tell(true, run('a'), run('b'));
  each.receive({ type: 'runs_changed', version: 2, removed: ['a', 'ended long ago'], runs: [] });
  expect([...each.left]).toEqual(['a', 'ended long ago']);
  each.letGo(each.left);
  expect(told.at(-1)).toEqual(['b thinking']);
  expect(each.left.size).toBe(0);
});

test('a run that was left out is forgotten when it was asked about', () => {
  const { told, tell, feeds: each } = feeds();
  tell(true, run('a'), run('b'));
  tell(true, run('b'));
  each.letGo(['a', 'b']);
  expect(told.at(-1)).toEqual(['b thinking']);
  expect(each.left.size).toBe(0);
});

test('a run that is told of again was not left out', () => {
  const { told, tell, feeds: each } = feeds();
  tell(true, run('a'));
  tell(true);
  const asked = each.left;
  tell(false, run('a', 'idle'));
  each.letGo(asked);
  expect(told.at(-1)).toEqual(['a idle']);
});

test('what is left out stays the same set while nothing changes about it', () => {
  const { tell, feeds: each } = feeds();
  const before = each.left;
  tell(true, run('a'));
  tell(false, run('a', 'idle'));
  expect(each.left).toBe(before);
});

test('a list is asked for while somebody looks at it', () => {
  const { said, feeds: each } = feeds();
  const stop = each.watch('inbox', () => {});
  each.watch('runs', () => {});
  stop();
  expect(said).toEqual([
    { type: 'subscribe', feed: 'runs', protocol: 2 },
    { type: 'subscribe', feed: 'inbox' },
    { type: 'unsubscribe', feed: 'inbox' },
  ]);
});
