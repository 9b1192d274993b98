import { expect, test } from 'vitest';
import type { Grant, PermissionRequested } from '../../wire';
import { approval, BASH } from '../fakes-for-tests';
import {
  allowance,
  answerOptions,
  answersTo,
  askedOf,
  denial,
  grantsOf,
  isSimple,
  NO_CHOICE,
  parseInput,
  permissionTitle,
  toggle,
  toggleGrant,
} from './derive-answer';
import { closedElsewhere, closedWords } from './derive-closed';
import { mergePending, oldestFirst } from './derive-pending';

const GRANTS = [
  { id: 'rule', kind: 'rule', destination: 'workspace', text: 'Allow Bash(ls:*) in this workspace, for you' },
  { id: 'mode', kind: 'mode', destination: 'session', text: 'Switch to mode acceptEdits' },
] as Grant[];

test('exactly the chosen grants are given, none by default', () => {
  const asked = { ...BASH, grants: GRANTS } as PermissionRequested;
  expect(allowance(asked, [])).toEqual({ kind: 'allow' });
  expect(allowance(asked, ['rule'])).toEqual({ kind: 'allow', grants: ['rule'] });
  expect(allowance(asked, ['mode', 'rule'])).toEqual({ kind: 'allow', grants: ['rule', 'mode'] });
  // What was chosen before the request was replaced is not given.
  expect(allowance(asked, ['gone'])).toEqual({ kind: 'allow' });
  expect(toggleGrant(asked, ['rule'], 'mode')).toEqual(['rule', 'mode']);
  expect(toggleGrant(asked, ['rule', 'mode'], 'rule')).toEqual(['mode']);
  expect(toggleGrant({ ...asked, takes_one_grant: true }, ['rule'], 'mode')).toEqual(['mode']);
});

test.each([undefined, null, 'all', [null], [{ id: 3, text: 'x' }], [{ id: 'x' }]])(
  'a grant that cannot be read is not offered: %j',
  (grants) => {
    expect(grantsOf({ ...BASH, grants } as unknown as PermissionRequested)).toEqual([]);
  },
);

test.each([
  [{ tool: 'Write', kind: 'edit', subject: 'new_file.txt' }, 'Allow Write to new_file.txt?'],
  [{ tool: 'Bash', kind: 'execute', subject: 'ls' }, 'Allow Bash?'],
  [{ tool: 'WebFetch', kind: 'fetch', subject: 'https://a.b' }, 'Allow WebFetch: https://a.b?'],
  [{ tool: 'mcp\u202e', kind: 'mcp' }, 'Allow mcp⟨U+202E⟩?'],
])('a permission request says what it is about: %j', (asked, title) => {
  expect(permissionTitle(asked as PermissionRequested)).toBe(title);
});

test('arguments that are not there cannot be changed', () => {
  const { input: _, ...bare } = BASH;
  expect(answerOptions(askedOf(approval('permission', bare))).canChange).toBe(false);
});

test('arguments that were too long to be kept cannot be changed: the tool would get what stands for them', () => {
  const dropped = { ...BASH, input: { dropped: { reason: 'oversize' } } };
  expect(answerOptions(askedOf(approval('permission', dropped)))).toMatchObject({
    canAllow: true,
    canChange: false,
  });
  const own = { ...BASH, input: { dropped: 'table users' } };
  expect(answerOptions(askedOf(approval('permission', own))).canChange).toBe(true);
});

test('a question is answered, a plan is allowed, and both can be denied', () => {
  const question = askedOf(approval('question', { request: 'q', questions: [{ text: 'Why?' }] }));
  expect(answerOptions(question)).toMatchObject({ canAllow: false, canAnswer: true, canDeny: true });
  const plan = askedOf(approval('plan', { request: 'q', plan: '# Do it' }));
  expect(answerOptions(plan)).toMatchObject({ canAllow: true, canAnswer: false, canChange: false });
});

test.each([
  ['permission', null],
  ['permission', 'text'],
  ['question', { questions: [] }],
  ['question', { questions: 'all' }],
  ['plan', { plan: 3 }],
] as const)('what is not understood of a %s can only be denied', (kind, data) => {
  const asked = askedOf(approval(kind, data));
  expect(asked).toBeNull();
  expect(answerOptions(asked)).toMatchObject({ canAllow: false, canAnswer: false, canDeny: true });
});

test('only a short command that is all there is to see is answered in a list', () => {
  const simple = (change: object) => isSimple(askedOf(approval('permission', { ...BASH, ...change })));
  const command = (text: string, more: object = {}) =>
    simple({ subject: text, input: { command: text, ...more } });
  expect(simple({})).toBe(true);
  expect(command('make', { description: 'Builds it' })).toBe(true);
  expect(simple({ subject: undefined })).toBe(false);
  expect(simple({ subject: 'echo hi …', input: { command: 'echo hi\nrm -rf ~' } })).toBe(false);
  expect(simple({ subject: 'rm -rf build', input: undefined })).toBe(false);
  expect(command('one\ntwo')).toBe(false);
  expect(command('make', { run_in_background: true })).toBe(false);
  expect(command('x'.repeat(121))).toBe(false);
  expect(command('ls \u202egnp.a')).toBe(false);
  const edit = { file_path: '/a', old_string: 'x', new_string: 'y' };
  expect(simple({ tool: 'Edit', kind: 'edit', subject: '/a', input: edit })).toBe(false);
  expect(isSimple(askedOf(approval('plan', { plan: 'x' })))).toBe(false);
});

test('changed arguments must be an object', () => {
  expect(parseInput('{"a":1}')).toEqual({ input: { a: 1 } });
  for (const text of ['', '{', '[1]', 'null', '3']) expect(parseInput(text)).toHaveProperty('problem');
});

test('what stands for a secret is not sent to a tool', () => {
  expect(parseInput('{"command":"login [redacted:A_KEY]"}')).toHaveProperty(
    'problem',
    expect.stringContaining('[redacted:A_KEY] stands for a secret'),
  );
  expect(parseInput('{"command":"login [\\u0072edacted:A_KEY]"}')).toHaveProperty('problem');
});

test('a denial says why, or that it is one', () => {
  expect(denial(' not now ', false, 'No.')).toEqual({ kind: 'deny', reason: 'not now' });
  expect(denial(' ', true, 'No.')).toEqual({ kind: 'deny_and_interrupt', reason: 'No.' });
});

const one = { text: 'Colour?', options: [{ label: 'Blue' }, { label: 'Red' }] };
const many = { text: 'Where?', options: [{ label: 'Linux' }, { label: 'macOS' }], is_multiple: true };
const free = { text: 'Name?' };

test('one choice replaces the other, several add up', () => {
  expect(toggle(one, toggle(one, { labels: [], other: 'x' }, 'Blue'), 'Red')).toEqual({
    labels: ['Red'],
    other: null,
  });
  const both = toggle(many, toggle(many, NO_CHOICE, 'macOS'), 'Linux');
  expect(both.labels).toEqual(['macOS', 'Linux']);
  expect(toggle(many, both, 'macOS').labels).toEqual(['Linux']);
});

test('answers come in the order of the questions, choices in the order of the options', () => {
  const choices = [
    { labels: ['Red'], other: null },
    { labels: ['macOS', 'Linux'], other: ' BSD ' },
    { labels: [], other: 'Ralph' },
  ];
  expect(answersTo([one, many, free], choices)).toEqual({
    answer: { kind: 'answers', answers: ['Red', 'Linux, macOS, BSD', 'Ralph'] },
  });
});

test('questions without an answer are named', () => {
  const choices = [NO_CHOICE, { labels: ['Linux'], other: ' ' }];
  expect(answersTo([one, many, free], choices)).toEqual({ missing: [0, 1, 2] });
});

test('a request that this page did not answer was closed elsewhere', () => {
  const before = ['a', 'b', 'c'].map((request) => approval('permission', { ...BASH, request }));
  const now = before.slice(0, 1);
  expect(closedElsewhere(before, now, new Set(['b:5'])).map(({ request }) => request)).toEqual(['c']);
});

test('who answered is told as far as the activity knows', () => {
  const asked = approval('permission', BASH);
  const ask = { kind: 'ask', request: 'p1', state: 'denied', answerer: { name: 'ralph answer' } };
  const rows = [{ body: ask }] as unknown as Parameters<typeof closedWords>[1];
  expect(closedWords(asked, rows)).toBe('“Bash: rm -rf build” was denied elsewhere by ralph answer.');
  expect(closedWords(asked, [])).toBe('“Bash: rm -rf build” was answered elsewhere.');
});

test('what the feed leaves out comes from the list, the oldest first', () => {
  const long = approval('plan', null, { request: 'b', seq: 2 });
  const whole = approval('plan', { plan: 'x' }, { request: 'b', seq: 2 });
  const first = approval('permission', BASH, { request: 'a', seq: 1 });
  expect(mergePending([long], [whole, first])).toEqual([first, whole]);
  expect(mergePending([long], undefined)).toEqual([long]);
});

test('over several runs the time counts, in one run the record', () => {
  const late = approval('permission', BASH, { run: 'x', asked_at: '2026-01-01T00:00:02Z', seq: 1 });
  const early = approval('permission', BASH, { run: 'y', asked_at: '2026-01-01T00:00:01Z', seq: 9 });
  const next = approval('permission', BASH, { run: 'y', asked_at: '2026-01-01T00:00:01Z', seq: 8 });
  expect(oldestFirst([late, early, next])).toEqual([next, early, late]);
});
