import { expect, test } from 'vitest';
import { deriveRows } from '../derive-rows';
import { agent, run } from '../records-for-tests';
import { documentOf, fence, markdownOf } from './derive-markdown';

function rows(...records: Parameters<typeof deriveRows>[0]) {
  return deriveRows(records).table.top;
}

test('nothing in a text ends its fence', () => {
  expect(fence('a\n```\nb')).toBe('````\na\n```\nb\n````');
});

test('a tool call has its output, and an edit its diff instead', () => {
  const started = { item: 't', name: 'Bash', kind: 'execute', state: 'running', subject: 'ls `x`' };
  const [call] = rows(
    agent(1, 'tool_started', started),
    agent(2, 'tool_finished', { item: 't', status: 'failed', output: 'no', exit_code: 1 }),
  );
  expect(call && markdownOf(call)).toBe('**Bash** `` ls `x` `` (failed, exit 1, 1.0 s)\n\n```\nno\n```');
  const changes = [{ path: 'a.txt', kind: 'modified', diff: '@@ -1 +1 @@\n-a\n+b\n' }];
  const [edit] = rows(agent(1, 'tool_finished', { item: 'e', status: 'completed', output: 'done', changes }));
  expect(edit && markdownOf(edit)).toContain('`a.txt`\n\n```diff\n@@ -1 +1 @@\n-a\n+b\n```');
});

test('a document has everything in order, subagents quoted', () => {
  const text = documentOf(
    'Two\nlines',
    rows(
      run(1, 'iteration_started', { number: 1, prompt: 'Do\nit' }),
      agent(2, 'tool_started', { item: 'p', name: 'Task', kind: 'agent', state: 'running' }),
      agent(3, 'text_block', { item: 'x', text: 'inside' }, 'p'),
      agent(4, 'text_block', { item: 'y', text: '**bold**' }),
    ),
  );
  expect(text).toBe(
    '# Two lines\n\n## Iteration 1\n\n> Do\n> it\n\n**Task** (running)\n\n> inside\n\n**bold**\n',
  );
});

test('a document that lacks the beginning says so', () => {
  expect(documentOf('Long', rows(agent(20_001, 'text_block', { item: 'x', text: 'end' })), 20_001)).toBe(
    '# Long\n\n*This run is too long to be copied as a whole: what was before record 20,001 is left out.*\n\nend\n',
  );
});

test('every kind of record can be copied', () => {
  const types = [
    'error',
    'notice',
    'warned',
    'verify_started',
    'tomorrow',
    'attempt_started',
    'retry_scheduled',
  ];
  for (const type of types) {
    const data = { message: 'm', code: 'c', kind: 'degraded', command: 'c', error: {}, number: 1 };
    for (const row of rows(agent(1, type, data))) expect(markdownOf(row)).not.toBe('');
  }
});
