import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RunRecord } from '../wire';
import { deriveRows, RowBuilder } from './derive-rows';
import { RecordWindow } from './record-window';
import { agent, anyRecords, inProcess, run } from './records-for-tests';
import type { AskRowBody, Row } from './row';
import { askWords } from './rows/command-words';

function shape(rows: readonly Row[]): unknown[] {
  return rows.map(({ key, body, raw, linkSeq, children }) => ({
    key,
    body,
    raw,
    linkSeq,
    children: shape(children),
  }));
}

const only = (rows: readonly Row[]) => {
  expect(rows).toHaveLength(1);
  return (rows[0] as Row).body;
};

test('records one by one give the rows of all at once', () => {
  fc.assert(
    fc.property(anyRecords, fc.array(fc.nat(5), { minLength: 1 }), (records, lengths) => {
      const builder = new RowBuilder();
      let at = 0;
      for (let turn = 0; at < records.length; turn += 1) {
        const next = at + 1 + (lengths[turn % lengths.length] ?? 0);
        builder.append(records.slice(at, next));
        at = next;
      }
      expect(shape(builder.table.top)).toEqual(shape(deriveRows(records).table.top));
    }),
  );
});

test('a window may begin and end anywhere', () => {
  fc.assert(
    fc.property(anyRecords, fc.nat(60), fc.nat(60), (records, from, length) => {
      const { table } = deriveRows(records.slice(from, from + length));
      for (const row of table.top) expect(row.key).not.toBe('');
    }),
  );
});

test('every record but a forgotten one is found in a row', () => {
  const records = [
    agent(1, 'tool_started', { item: 't', name: 'Bash', kind: 'execute', state: 'running' }),
    agent(2, 'tool_progressed', { item: 't', elapsed_ms: 5 }),
    agent(3, 'tool_finished', { item: 't', status: 'completed', output: 'x' }),
    agent(4, 'status_changed', { status: 'idle' }),
  ];
  const { table } = deriveRows(records);
  expect([1, 2, 3].map((seq) => table.rowOf(seq)?.key)).toEqual(['tool:1/1/t', 'tool:1/1/t', 'tool:1/1/t']);
  expect(table.rowOf(4)?.body.kind).toBe('record');
});

test('pieces of a text are joined and replaced by the whole', () => {
  const pieces = [
    agent(1, 'delta', { item: 'm', part: 'text', text: 'Hel' }),
    agent(2, 'delta', { item: 'm', part: 'text', text: 'lo' }),
  ];
  const streaming = deriveRows(pieces);
  expect(only(streaming.table.top)).toMatchObject({ text: 'Hello', isStreaming: true });
  streaming.append([agent(3, 'text_block', { item: 'm', text: 'Hello!' })]);
  expect(only(streaming.table.top)).toMatchObject({ text: 'Hello!', isStreaming: false });
  expect(streaming.table.top[0]?.linkSeq).toBe(3);
});

test('a long block comes in pieces', () => {
  const { table } = deriveRows([
    agent(1, 'text_block', { item: 'm', text: 'one ', piece: { index: 0, is_last: false } }),
    agent(2, 'text_block', { item: 'm', text: 'two', piece: { index: 1, is_last: true } }),
  ]);
  expect(only(table.top)).toMatchObject({ text: 'one two', isStreaming: false });
});

test('a tool call goes from its arguments to its end', () => {
  const builder = deriveRows([
    agent(1, 'tool_started', { item: 't', name: 'Bash', kind: 'execute', state: 'preparing' }),
    agent(2, 'delta', { item: 't', part: 'tool_input', text: '{"command":' }),
  ]);
  expect(only(builder.table.top)).toMatchObject({
    call: { state: 'preparing', partialInput: '{"command":' },
  });
  const input = { command: 'ls' };
  builder.append([
    agent(3, 'tool_started', {
      item: 't',
      name: 'Bash',
      kind: 'execute',
      state: 'running',
      subject: 'ls',
      input,
    }),
    agent(4, 'delta', { item: 't', part: 'tool_output', text: 'a' }),
  ]);
  expect(only(builder.table.top)).toMatchObject({
    call: { state: 'running', input, partialInput: null, output: 'a' },
  });
  builder.append([
    agent(5, 'tool_finished', { item: 't', status: 'failed', output: 'a\nb', output_bytes: 9, exit_code: 2 }),
  ]);
  const body = only(builder.table.top);
  expect(body).toMatchObject({
    call: { state: 'failed', output: 'a\nb', outputBytes: 9, exitCode: 2, elapsedMs: 2000, finishedSeq: 5 },
  });
  expect(body.kind === 'tool' && body.call.raw.map((ref) => ref.offset)).toEqual([300, 500]);
});

test('arguments that were too long are none', () => {
  const input = { dropped: { reason: 'oversize' } };
  const { table } = deriveRows([
    agent(1, 'tool_started', {
      item: 't',
      name: 'Write',
      kind: 'edit',
      state: 'running',
      subject: 'big',
      input,
    }),
  ]);
  expect(only(table.top)).toMatchObject({ call: { input: null, subject: 'big' } });
});

test('what a subagent does stands under the call that started it', () => {
  const { table } = deriveRows([
    agent(1, 'tool_started', { item: 'p', name: 'Task', kind: 'agent', state: 'running' }),
    agent(2, 'text_block', { item: 'x', text: 'in it' }, 'p'),
    agent(3, 'text_block', { item: 'y', text: 'lost' }, 'not-here'),
  ]);
  expect(table.top.map((row) => row.key)).toEqual(['tool:1/1/p', 'text:1/1/y']);
  expect(table.top[0]?.children.map((row) => row.key)).toEqual(['text:1/1/x']);
});

test('every process counts its items anew, and none changes a row of another', () => {
  const write = (seq: number, iteration: number, attempt: number, words: string) => [
    inProcess(iteration, attempt, agent(seq, 'delta', { item: 'item_0', part: 'text', text: words })),
    inProcess(
      iteration,
      attempt,
      agent(seq + 1, 'tool_started', { item: 'item_1', name: 'Bash', kind: 'execute', state: 'running' }),
    ),
    inProcess(iteration, attempt, agent(seq + 2, 'text_block', { item: 'in', text: words }, 'item_1')),
    inProcess(
      iteration,
      attempt,
      agent(seq + 3, 'permission_requested', { request: '1', item: 'item_1', tool: 'Bash', kind: 'execute' }),
    ),
  ];
  const records = [
    ...write(1, 1, 1, 'crashed'),
    ...write(11, 1, 2, 'tried again'),
    inProcess(1, 2, agent(15, 'request_closed', { request: '1', reason: 'answered' })),
    inProcess(1, 2, agent(16, 'tool_finished', { item: 'item_1', status: 'completed', output: 'x' })),
    inProcess(1, 2, agent(17, 'text_block', { item: 'item_0', text: 'tried again!' })),
    ...write(21, 2, 1, 'second'),
  ];
  const seen = (list: readonly RunRecord[]) =>
    deriveRows(list).table.top.map(({ body, children }) => {
      if (body.kind === 'tool') return [body.call.state, children.length];
      if (body.kind === 'ask') return body.state;
      return body.kind === 'text' ? [body.text, body.isStreaming] : body.kind;
    });
  const rows = [
    [['crashed', true], ['waiting', 1], 'pending'],
    [['tried again!', false], ['completed', 1], 'answered'],
    [['second', true], ['waiting', 1], 'pending'],
  ].flat();
  expect(seen(records)).toEqual(rows);
  const window = new RecordWindow('e', 1, 0, []);
  window.append(1, 24, records);
  const kept = seen(window.all());
  expect(kept).toHaveLength(rows.length);
  expect(kept).toEqual(expect.arrayContaining(rows));
});

test('a call whose permission is asked for waits until it is answered', () => {
  const builder = deriveRows([
    agent(1, 'tool_started', { item: 't', name: 'Bash', kind: 'execute', state: 'running' }),
    agent(2, 'permission_requested', { request: 'r', item: 't', tool: 'Bash', kind: 'execute' }),
  ]);
  expect(builder.table.top[0]?.body).toMatchObject({ call: { state: 'waiting' } });
  builder.append([agent(3, 'request_closed', { request: 'r', reason: 'answered' })]);
  expect(builder.table.top[0]?.body).toMatchObject({ call: { state: 'running' } });
  expect(builder.table.top[1]?.body).toMatchObject({ kind: 'ask', state: 'answered' });
});

test('an answer shows its own time and what was granted with it', () => {
  const grants = [
    { id: 'g1', kind: 'rule', destination: 'session', text: 'Allow Bash(ls *) for this session' },
    { id: 'g2', kind: 'mode', destination: 'session', text: 'Switch to mode acceptEdits' },
  ];
  const answer = { command_id: 'c', command: 'answer', request: 'r', by: 'web', grants: ['g1'] };
  const asked = { request: 'r', item: 't', tool: 'Bash', kind: 'execute', grants };
  const records = [agent(1, 'permission_requested', asked), run(2, 'command_received', answer)];
  const body = deriveRows(records).table.top[0]?.body;
  expect(body).toMatchObject({ granted: ['Allow Bash(ls *) for this session'], closedAt: records[1]?.at });
  expect(records[1]?.at).not.toBe(records[0]?.at);
});

test('arguments that a person changed are not shown as those that were asked for', () => {
  const answer = {
    command_id: 'c',
    command: 'answer',
    request: 'r',
    changed_input: '{"command":"echo safe"}',
  };
  const { table } = deriveRows([
    agent(1, 'permission_requested', { request: 'r', item: 't', tool: 'Bash', kind: 'execute' }),
    run(2, 'command_received', answer),
    agent(3, 'request_closed', { request: 'r', reason: 'answered' }),
  ]);
  const words = 'You allowed Bash with changed arguments: {"command":"echo safe"}';
  expect(askWords(table.top[0]?.body as AskRowBody)).toBe(words);
});

test('what was asked says who answered; an answer that came too late is a row', () => {
  const answer = { command_id: 'c', command: 'answer', request: 'r' };
  const { table } = deriveRows([
    agent(1, 'permission_requested', { request: 'r', item: 't', tool: 'Bash', kind: 'execute' }),
    run(2, 'command_received', answer),
    run(3, 'command_received', { ...answer, refused: 'already answered' }),
    agent(4, 'request_closed', { request: 'r', reason: 'denied' }),
  ]);
  expect(table.top.map((row) => row.body.kind)).toEqual(['ask', 'command']);
  expect(askWords(table.top[0]?.body as AskRowBody)).toBe('You denied Bash');
  expect(table.rowOf(2)).toBe(table.top[0]);
});

test('what a card tells already is not told twice', () => {
  const question = { request: 'q', item: 't', questions: [{ text: 'Which?' }] };
  const call = agent(1, 'tool_started', {
    item: 't',
    name: 'AskUserQuestion',
    kind: 'other',
    state: 'running',
  });
  const rows = (records: RunRecord[]) => deriveRows(records).table.top.map((row) => row.body);
  expect(rows([call, agent(2, 'question_asked', question)])[1]).toMatchObject({ hasCard: true });
  expect(rows([agent(2, 'question_asked', question)])[0]).toMatchObject({ hasCard: false });
  const permission = agent(2, 'permission_requested', { request: 'p', item: 't', tool: 'Bash', input: {} });
  expect(rows([call, permission])[1]).toMatchObject({ hasCard: true });
  expect(rows([permission])[0]).toMatchObject({ hasCard: false });
});

test('a broken answer that is asked for again leaves no trace', () => {
  const { table } = deriveRows([
    agent(1, 'delta', { item: 'm', part: 'text', text: 'Hel' }),
    agent(2, 'item_discarded', { item: 'm', reason: 'retry' }),
  ]);
  expect(table.top).toEqual([]);
});

test('a prompt and a message that the agent repeats are shown once', () => {
  const { table } = deriveRows([
    run(1, 'iteration_started', { number: 1, prompt: 'Do it' }),
    agent(2, 'user_message', { item: 'u', text: 'Do it', origin: 'user' }),
    run(3, 'command_received', { command_id: 'c', command: 'send', message_id: 'm', text: 'and that' }),
    run(4, 'message_sent', { message_id: 'm' }),
    agent(5, 'user_message', { item: 'v', text: 'and that', origin: 'user' }),
    agent(6, 'message_updated', { message_id: 'm', state: 'completed' }),
  ]);
  expect(table.top.map((row) => row.body.kind)).toEqual(['iteration_start', 'command']);
  expect(table.top[1]?.body).toMatchObject({ state: 'completed' });
});

test('a message that was changed and taken back says so', () => {
  const { table } = deriveRows([
    run(1, 'command_received', { command_id: 'a', command: 'send', message_id: 'm', text: 'one' }),
    run(2, 'command_received', { command_id: 'b', command: 'edit_message', message_id: 'm', text: 'two' }),
    run(3, 'command_received', { command_id: 'c', command: 'withdraw_message', message_id: 'm' }),
  ]);
  expect(table.top[0]?.body).toMatchObject({ command: { text: 'two' }, state: 'withdrawn' });
});

test('a record of a newer version is shown as it is', () => {
  const { table } = deriveRows([agent(1, 'tomorrow', { a: 1 }), { seq: 2 } as never]);
  expect(table.top.map((row) => row.body)).toEqual([
    { kind: 'record', type: 'tomorrow', data: { a: 1 }, isKnown: false },
    { kind: 'record', type: 'undefined', data: undefined, isKnown: false },
  ]);
});

test('a thousand pieces more cost the same, however many there were', () => {
  const text = 'x'.repeat(20);
  const piece = (seq: number) => agent(seq, 'delta', { item: 'm', part: 'text', text });
  const window = new RecordWindow('e', 1, 0, []);
  const builder = new RowBuilder();
  const add = (from: number, count: number) => {
    const records = Array.from({ length: count }, (_, index) => piece(from + index));
    const start = performance.now();
    for (const record of records) builder.append(window.append(record.seq, record.seq, [record]) ?? []);
    return performance.now() - start;
  };
  add(1, 5_000);
  const early = Math.min(add(5_001, 1_000), add(6_001, 1_000), add(7_001, 1_000));
  add(8_001, 60_000);
  const late = Math.min(add(68_001, 1_000), add(69_001, 1_000), add(70_001, 1_000));
  expect(window.length).toBe(1);
  // Three times is far from the ten that work over all of it would take.
  expect(late).toBeLessThan(Math.max(early * 3, 10));
});

test('what a process that is gone had begun is cut off', () => {
  const begun = [
    agent(1, 'delta', { item: 'a', part: 'text', text: 'Hal', mode: 'append' }),
    agent(2, 'delta', { item: 'b', part: 'thinking', text: 'Hm', mode: 'append' }),
    agent(3, 'tool_started', { item: 't', name: 'Bash', kind: 'execute', state: 'running' }),
    agent(4, 'text_block', { item: 'c', text: 'Whole.' }),
    agent(5, 'permission_requested', { request: 'r', item: 't', name: 'Bash' }),
    run(6, 'verify_started', { command: 'make' }),
  ];
  for (const type of ['attempt_ended', 'run_ended']) {
    const { table } = deriveRows([...begun, run(7, type, {})]);
    expect(table.top.map(({ body }) => body)).toMatchObject([
      { kind: 'text', text: 'Hal', isStreaming: false, isAborted: true },
      { kind: 'thinking', isStreaming: false },
      { kind: 'tool', call: { state: 'cancelled', finishedSeq: 7 } },
      { kind: 'text', text: 'Whole.', isAborted: false },
      { kind: 'ask', state: 'ended' },
      { kind: 'verify', result: null, isCut: true },
      { kind: type === 'run_ended' ? 'run_end' : 'attempt_end' },
    ]);
    expect(table.top[0]?.version).toBe(1);
  }
  // Another process goes on.
  const { table } = deriveRows([...begun, inProcess(1, 2, run(7, 'attempt_ended', {}))]);
  expect(table.top[0]?.body).toMatchObject({ isStreaming: true });
});
