import { expect, test } from 'vitest';
import { BASH } from '../fakes-for-tests';
import { previewOf } from './derive-preview';

test('a command is shown as one, an edit as a diff, everything else as it is', () => {
  expect(previewOf(BASH)?.preview).toMatchObject({
    as: 'command',
    shown: { text: 'rm -rf build', lines: 1 },
  });
  const edit = { file_path: '/a', old_string: 'x', new_string: 'y' };
  expect(previewOf({ input: edit })?.preview).toEqual({ as: 'diff', path: '/a', old: 'x', new: 'y' });
  const write = { file_path: '/a', content: 'y' };
  expect(previewOf({ input: write })?.preview).toEqual({ as: 'diff', path: '/a', old: '', new: 'y' });
  expect(previewOf({ input: { file_path: 3 } })?.preview).toMatchObject({ as: 'json' });
  expect(previewOf({ input: null })).toBeNull();
});

test('arguments that were too long to be kept are not shown as if they were the arguments', () => {
  const input = { dropped: { reason: 'oversize' } };
  expect(previewOf({ input, subject: '/a\u200b' })).toEqual({
    preview: { as: 'too_long', subject: '/a⟨U+200B⟩' },
    facts: [],
  });
  expect(previewOf({ input })?.preview).toEqual({ as: 'too_long', subject: null });
  const own = { dropped: { reason: 'oversize', table: 'users' } };
  expect(previewOf({ input: own })?.preview).toMatchObject({ as: 'json' });
});

test('arguments that the preview does not show stand below it', () => {
  const input = { command: 'make', run_in_background: true, env: { A: '1' }, description: 'Builds' };
  const facts = previewOf({ input })?.facts;
  expect(facts).toEqual([
    { name: 'run_in_background', value: 'true' },
    { name: 'env', value: '{"A":"1"}' },
    { name: 'description', value: 'Builds' },
  ]);
  expect(previewOf({ input, description: 'Builds' })?.facts).toHaveLength(2);
  const edit = { file_path: '/a', old_string: 'x', new_string: 'y', replace_all: true };
  expect(previewOf({ input: edit })?.facts).toEqual([{ name: 'replace_all', value: 'true' }]);
  const both = { file_path: '/a', content: 'y', old_string: 'x' };
  expect(previewOf({ input: both })?.facts).toEqual([{ name: 'old_string', value: 'x' }]);
});

test('what would not be seen is told', () => {
  expect(previewOf({ input: { command: 'ls \u202ex' } })?.preview).toMatchObject({
    shown: { text: 'ls ⟨U+202E⟩x' },
  });
  const write = { file_path: '/a\u200b', content: 'b\u2066' };
  expect(previewOf({ input: write })?.preview).toMatchObject({ path: '/a⟨U+200B⟩', new: 'b⟨U+2066⟩' });
  expect(previewOf({ input: ['\u202e'] })?.preview).toMatchObject({ shown: { text: '[\n  "\\u202e"\n]' } });
});
