import { expect, test } from 'vitest';
import type { FileChange } from '../../wire';
import type { ChangedFile } from './derive-files';
import { patchOf } from './derive-patch';

function file(...changes: FileChange[]): ChangedFile {
  const [first] = changes;
  if (!first) throw new Error('no change');
  const { path, kind } = first;
  const all = changes.map((change, seq) => ({ seq, at: '', change }));
  return { path, kind, changes: all, net: null, added: 0, removed: 0 };
}

const HUNK = '@@ -1 +1 @@\n-a\n+b';

test('a patch names its file as it is seen from the workspace', () => {
  const one = file({ path: '/w/src/a.rs', kind: 'modified', diff: HUNK });
  expect(patchOf(one, '/w')).toBe('--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1 +1 @@\n-a\n+b\n');
});

test('what all changes come to is copied, or else one after the other', () => {
  const change: FileChange = { path: 'a', kind: 'modified', diff: HUNK };
  const two = file(change, { ...change, diff: '@@ -1 +1 @@\n-b\n+c\n' });
  expect(patchOf(two, '').match(/^---/gm)).toHaveLength(2);
  const net = { ...change, diff: '@@ -1 +1 @@\n-a\n+c\n' };
  expect(patchOf({ ...two, net }, '')).toBe('--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+c\n');
});

test('new and deleted files have nothing on the other side, and names in the diff are not doubled', () => {
  const added = file({ path: 'n', kind: 'added', diff: '--- n\n+++ n\n@@ -0,0 +1 @@\n+x\n' });
  expect(patchOf(added, '')).toBe('--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n');
  const deleted = file({ path: 'd', kind: 'deleted', diff: '@@ -1 +0,0 @@\n-x\n' });
  expect(patchOf(deleted, '')).toContain('--- a/d\n+++ /dev/null\n');
});

test('a change that nobody told is named', () => {
  expect(patchOf(file({ path: 'p', kind: 'modified' }), '')).toMatch(/^# p: the changed lines are not known/);
});
