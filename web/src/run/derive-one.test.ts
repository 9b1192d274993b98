import { expect, test } from 'vitest';
import { bodyOfOne, machinery } from './derive-one';
import { agent, run } from './records-for-tests';

const kindOf = (type: string, data: unknown) => bodyOfOne(agent(1, type, data)).kind;

test('a notice of a shortened conversation is a row of its own kind', () => {
  expect(kindOf('notice', { code: 'compacted' })).toBe('compaction');
  expect(kindOf('notice', { code: 'anything else' })).toBe('notice');
});

test('a limit is told when it is near or reached, not when all is well', () => {
  expect(kindOf('rate_limit', { status: 'allowed' })).toBe('record');
  expect(kindOf('rate_limit', { status: 'rejected' })).toBe('rate_limit');
});

test('what the machinery says is a known record, what a newer version says an unknown one', () => {
  expect(bodyOfOne(agent(1, 'turn_started', { number: 1 }))).toEqual({
    kind: 'record',
    type: 'turn_started',
    data: { number: 1 },
    isKnown: true,
  });
  expect(bodyOfOne(agent(1, 'tomorrow', null))).toMatchObject({ type: 'tomorrow', isKnown: false });
  expect(machinery({ seq: 1 } as never, false)).toMatchObject({ type: 'undefined' });
});

test('steps of the run are rows with their data', () => {
  expect(bodyOfOne(run(1, 'run_ended', { reason: 'done' }))).toEqual({
    kind: 'run_end',
    run: { reason: 'done' },
  });
  expect(bodyOfOne(run(1, 'attempt_ended', { outcome: 'crashed' }))).toEqual({
    kind: 'attempt_end',
    attempt: { outcome: 'crashed' },
  });
  expect(kindOf('permission_denied', { tool: 'Bash' })).toBe('denied');
});

test('waits and limits that are raised are rows of their own', () => {
  expect(kindOf('cooldown_started', { cause: 'usage_limit' })).toBe('pause');
  expect(kindOf('budget_awaited', { limit: 'cost' })).toBe('limit_reached');
  expect(kindOf('limit_raised', { limit: 'cost', to: 1 })).toBe('limit_raised');
});

test('a change of the session tells all that has changed, and is no row for people if nothing has', () => {
  const body = bodyOfOne(agent(1, 'session_updated', { model: 'big', title: 'Tests' }));
  expect(body).toEqual({
    kind: 'session_change',
    text: 'The model is big now · The conversation is called “Tests”',
  });
  expect(kindOf('session_updated', {})).toBe('record');
});
