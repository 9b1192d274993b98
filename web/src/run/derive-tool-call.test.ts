import { expect, test } from 'vitest';
import type { Delta, ToolFinished, ToolStarted } from '../wire';
import { callDelta, callFinished, callProgressed, callStarted, msBetween, newCall } from './derive-tool-call';
import { agent } from './records-for-tests';

const record = (seq: number) => agent(seq, 'tool_started', {}, 'p');
const started = (parts: object): ToolStarted =>
  ({ item: 't', name: 'Bash', kind: 'execute', state: 'running', ...parts }) as ToolStarted;
const finished = (parts: object): ToolFinished =>
  ({ item: 't', status: 'completed', output: 'all', ...parts }) as ToolFinished;
const piece = (part: string, text: string, mode = 'append'): Delta =>
  ({ item: 't', part, mode, text }) as Delta;

test('a call begins with what its first record tells', () => {
  expect(newCall(record(3), 't')).toMatchObject({
    item: 't',
    seq: 3,
    state: 'preparing',
    parent: 'p',
    iteration: 1,
    attempt: 1,
    raw: [{ offset: 300, length: 99 }],
  });
});

test('the time that writing the arguments takes is no time of the call', () => {
  const call = callStarted(newCall(record(1), 't'), record(4), started({}));
  const over = callFinished(call, record(6), finished({ exit_code: 1 }));
  expect(over).toMatchObject({ elapsedMs: 2_000, exitCode: 1, state: 'completed', finishedSeq: 6 });
});

test('arguments stay when a later record leaves them out', () => {
  const call = callStarted(newCall(record(1), 't'), record(2), started({ input: { a: 1 }, subject: 'a' }));
  const again = callStarted(call, record(3), started({ input: { dropped: { reason: 'oversize' } } }));
  expect(again).toMatchObject({ input: { a: 1 }, subject: 'a' });
  const named = callStarted(call, record(3), started({ input: { dropped: 1, other: 2 } }));
  expect(named.input).toEqual({ dropped: 1, other: 2 });
});

test('a start that comes late changes nothing of how the call went or that it waits', () => {
  const over = callFinished(newCall(record(1), 't'), record(2), finished({ status: 'denied' }));
  expect(callStarted(over, record(3), started({})).state).toBe('denied');
  const waits = { ...newCall(record(1), 't'), state: 'waiting' as const };
  expect(callStarted(waits, record(3), started({})).state).toBe('waiting');
});

test('pieces are joined, a snapshot replaces them, and the end of a long output is kept', () => {
  let call = newCall(record(1), 't');
  for (const text of ['{"a"', ':1}']) call = callDelta(call, piece('tool_input', text));
  call = callDelta(call, piece('tool_output', 'gone'));
  call = callDelta(call, piece('tool_output', 'x', 'snapshot'));
  call = callDelta(call, piece('tool_output', 'y'));
  expect(call).toMatchObject({ partialInput: '{"a":1}', output: 'xy' });
  const long = callDelta(call, piece('tool_output', `${'z'.repeat(70_000)}!`)).output ?? '';
  expect([long.length, long.at(-1)]).toEqual([65_536, '!']);
});

test('progress tells the time, and the end tells what the pieces were', () => {
  const call = callProgressed(newCall(record(1), 't'), { item: 't', elapsed_ms: 7 });
  expect(callProgressed(call, { item: 't' }).elapsedMs).toBe(7);
  expect(callFinished(call, record(2), finished({ output_bytes: 99 }))).toMatchObject({
    output: 'all',
    outputBytes: 99,
    partialInput: null,
  });
});

test('no time is below zero, and none is known between what is no time', () => {
  expect(msBetween('2026-01-01T00:00:05Z', '2026-01-01T00:00:01Z')).toBe(0);
  expect(msBetween('yesterday', '2026-01-01T00:00:01Z')).toBeNull();
});

test('of a call whose beginning is not here, nobody knows how long it took', () => {
  const late = agent(9, 'tool_finished', {});
  const over = callFinished(newCall(late, 't'), late, finished({}));
  expect(over).toMatchObject({ startedAt: null, elapsedMs: null, state: 'completed' });
  const progress = agent(9, 'tool_progressed', {});
  expect(callProgressed(newCall(progress, 't'), { item: 't', elapsed_ms: 5 }).state).toBe('running');
  expect(callDelta(newCall(agent(9, 'delta', {}), 't'), piece('tool_output', 'x')).state).toBe('running');
});
