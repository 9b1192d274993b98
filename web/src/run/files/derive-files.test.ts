import { expect, test } from 'vitest';
import type { Change } from '../../api/changes';
import { countLines, deriveFiles, deriveNetFiles, relativePath } from './derive-files';

const finished = (seq: number, path: string, kind: Change['kind'], diff: string | null = null): Change => {
  const [added, removed] = diff === null ? [null, null] : countLines(diff);
  return { path, kind, added, removed, diff, seq, at: '2026-01-01T00:00:00Z' };
};

test('all changes of a file stand together', () => {
  const files = deriveFiles([
    finished(1, '/w/a', 'added', '@@ -0,0 +1,2 @@\n+x\n+y'),
    finished(2, '/w/b', 'modified'),
    finished(3, '/w/a', 'modified', '@@ -1 +1 @@\n-x\n+z'),
  ]);
  expect(
    files.map(({ path, kind, added, removed, changes }) => [path, kind, added, removed, changes.length]),
  ).toEqual([
    ['/w/a', 'added', 2, 0, 2],
    ['/w/b', 'modified', 0, 0, 1],
  ]);
});

test('several changes of a file come to one, if it can be told', () => {
  const [told, untold] = deriveFiles([
    finished(1, '/w/a', 'modified', '@@ -1 +1 @@\n-x\n+y'),
    finished(2, '/w/a', 'modified', '@@ -1 +1 @@\n-y\n+z'),
    finished(3, '/w/b', 'modified', '@@ -1 +1 @@\n-x\n+y'),
    finished(4, '/w/b', 'modified', '@@ -1 +1 @@\n-other\n+z'),
  ]);
  expect(told).toMatchObject({ net: { diff: '@@ -1,1 +1,1 @@\n-x\n+z' }, added: 1, removed: 1 });
  expect(untold).toMatchObject({ net: null, added: 2, removed: 2 });
});

test('a file that git found has its net change and no steps', () => {
  const item = { ...finished(0, 'a', 'modified', '@@ -1 +1 @@\n-x\n+y'), seq: null, at: null };
  const [file, binary] = deriveNetFiles([
    item,
    { ...item, path: 'b', added: null, removed: null, diff: null },
  ]);
  expect(file).toMatchObject({ path: 'a', added: 1, removed: 1, changes: [], net: { diff: item.diff } });
  expect(binary).toMatchObject({ path: 'b', added: 0, removed: 0, net: { path: 'b', kind: 'modified' } });
});

test('lines are counted in hunks only', () => {
  expect(countLines('--- a\n+++ b\n@@ -1 +1 @@\n-x\n+--y\n z')).toEqual([1, 1]);
});

test('paths are seen from the workspace', () => {
  expect(relativePath('/w/a/b', '/w')).toBe('a/b');
  expect(relativePath('/wide/b', '/w')).toBe('/wide/b');
});
