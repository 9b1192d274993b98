import { applyPatch, createTwoFilesPatch } from 'diff';
import { expect, test } from 'vitest';
import type { FileChange } from '../../wire';
import { deriveNet } from './derive-net';

/** As agents tell a change: hunks only. */
function change(before: string, after: string, kind: FileChange['kind'] = 'modified'): FileChange {
  const patch = createTwoFilesPatch('f', 'f', before, after, '', '', { context: 3 });
  return { path: '/w/f', kind, diff: patch.slice(patch.indexOf('@@')) };
}

const numbered = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}\n`).join('');

test('changes of the same place become one', () => {
  const [first, second, third] = ['a\nb\nc\n', 'a\nB\nc\n', 'a\nBB\nc\n'];
  expect(deriveNet([change(first, second), change(second, third)])).toBe('@@ -1,3 +1,3 @@\n a\n-b\n+BB\n c');
});

test('what was put back is no change', () => {
  const [first, second] = ['a\nb\nc\n', 'a\nB\nnew\nc\n'];
  expect(deriveNet([change(first, second), change(second, first)])).toBe('');
});

test('a file that was made and then changed is new as it is now', () => {
  const changes = [change('', 'a\nb\n', 'added'), change('a\nb\n', 'a\nc\nd\n')];
  expect(deriveNet(changes)).toBe('@@ -0,0 +1,3 @@\n+a\n+c\n+d');
});

test('what cannot be told is not made up', () => {
  const fine = change('a\nb\n', 'a\nc\n');
  expect(deriveNet([fine, { path: '/w/f', kind: 'modified' }])).toBe(null);
  expect(deriveNet([fine, { path: '/w/f', kind: 'deleted', diff: '@@ -1 +0,0 @@\n-a' }])).toBe(null);
  expect(deriveNet([fine, { path: '/w/f', kind: 'modified', diff: '@@ -1,9 +1 @@\n-a' }])).toBe(null);
  // Somebody else changed the file in between.
  expect(deriveNet([fine, change('a\nX\n', 'a\nY\n')])).toBe(null);
  // A new file has no tenth line.
  expect(deriveNet([change('', 'a\n', 'added'), { ...fine, diff: '@@ -10 +10 @@\n-a\n+b' }])).toBe(null);
});

test('any row of changes comes to the same as one change', () => {
  // A small generator with a fixed start, so that a failure can be seen again.
  let seed = 7;
  const below = (limit: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * limit);
  };
  for (let round = 0; round < 300; round += 1) {
    const first = numbered(5 + below(60));
    let now = first;
    const changes: FileChange[] = [];
    for (let step = 0; step < 1 + below(6); step += 1) {
      const lines = now.split('\n').slice(0, -1);
      for (let edit = 0; edit <= below(3); edit += 1) {
        const added = Array.from({ length: below(4) }, () => `${['line 1', 'line 2', 'x', 'y'][below(4)]}`);
        lines.splice(below(lines.length + 1), below(4), ...added);
      }
      const next = lines.map((line) => `${line}\n`).join('');
      if (next === now || next === '') continue;
      changes.push(change(now, next));
      now = next;
    }
    if (changes.length === 0) continue;
    const net = deriveNet(changes);
    expect(net).not.toBe(null);
    expect(net === '' ? first : applyPatch(first, `${net}\n`)).toBe(now);
    // Nothing stands in it that is no change.
    if (first === now) expect(net).toBe('');
  }
});
