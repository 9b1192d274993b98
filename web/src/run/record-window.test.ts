import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deriveRows } from './derive-rows';
import { cutOf, LIMITS, RecordWindow } from './record-window';
import { agent, anyRecords, run } from './records-for-tests';

const status = (seq: number) => agent(seq, 'status_changed', { status: 'thinking' });
const piece = (seq: number, text: string) => agent(seq, 'delta', { item: 'm', part: 'text', text });

test('what follows is added, what is known is not, and a gap is told', () => {
  const window = new RecordWindow('e', 1, 2, [status(1), status(2)]);
  expect(window.append(2, 4, [status(2), status(3), status(4)])?.map((record) => record.seq)).toEqual([3, 4]);
  expect(window.append(6, 6, [status(6)])).toBeNull();
  expect([window.first, window.last]).toEqual([1, 4]);
});

test('pieces are kept as one and dropped when the text is complete', () => {
  const window = new RecordWindow('e', 1, 0, []);
  window.append(1, 2, [piece(1, 'a'), piece(2, 'b')]);
  expect(window.length).toBe(1);
  expect(deriveRows(window.all()).table.top[0]?.body).toMatchObject({ text: 'ab' });
  window.append(3, 3, [agent(3, 'text_block', { item: 'm', text: 'ab!' })]);
  expect(window.all().map((record) => record.event.type)).toEqual(['text_block']);
});

test('of the output of a running command the end is kept', () => {
  const window = new RecordWindow('e', 1, 0, []);
  const line = (seq: number) =>
    agent(seq, 'delta', {
      item: 't',
      part: 'tool_output',
      mode: 'append',
      text: 'x'.repeat(999) + (seq % 10),
    });
  const records = Array.from({ length: 2_000 }, (_, index) => line(index + 1));
  window.append(1, 2_000, records);
  const [kept] = window.all();
  const text = kept?.event.type === 'delta' ? kept.event.data.text : '';
  expect(text.length).toBeGreaterThanOrEqual(65_536);
  expect(text.length).toBeLessThanOrEqual(131_072);
  expect(text.at(-1)).toBe('0');
});

test('the records of others are never changed', () => {
  const first = piece(1, 'a');
  new RecordWindow('e', 1, 0, []).append(1, 2, [first, piece(2, 'b')]);
  expect(first.event).toMatchObject({ data: { text: 'a' } });
});

test('a page before is added in front', () => {
  const window = new RecordWindow('e', 3, 4, [status(3), status(4)]);
  window.prepend(1, [status(1), status(2), status(3)]);
  expect(window.all().map((record) => record.seq)).toEqual([1, 2, 3, 4]);
  expect(window.first).toBe(1);
});

test('either end can be dropped and fetched again', () => {
  const records = Array.from({ length: 10 }, (_, index) => status(index + 1));
  const window = new RecordWindow('e', 1, 10, records);
  const most = (records: number) => ({ ...LIMITS, records });
  expect(window.dropFront(most(6))).toBe(true);
  expect(window.first).toBe(5);
  expect(window.dropBack(most(4))).toBe(true);
  expect(window.last).toBe(8);
  expect(window.append(9, 10, records.slice(8))).toHaveLength(2);
  expect(window.dropFront(most(100))).toBe(false);
});

test('long texts are dropped before there are many records', () => {
  const text = (seq: number) => agent(seq, 'text_block', { item: `m${seq}`, text: 'x'.repeat(100) });
  const limits = { records: 1_000, letters: 1_000, fewest: 4 };
  const window = new RecordWindow('e', 1, 0, []);
  for (let seq = 1; seq <= 8; seq += 1) window.append(seq, seq, [text(seq)]);
  expect(window.isFull(limits)).toBe(false);
  for (let seq = 9; seq <= 15; seq += 1) window.append(seq, seq, [text(seq)]);
  expect(window.isFull(limits)).toBe(true);
  expect(window.dropFront(limits)).toBe(true);
  expect(window.isFull(limits)).toBe(false);
  expect(window.length).toBeLessThan(10);
  // What may be on the screen stays.
  const huge = new RecordWindow('e', 1, 5, [1, 2, 3, 4, 5].map(text));
  expect(huge.dropBack({ ...limits, letters: 1 })).toBe(true);
  expect(huge.length).toBe(4);
  expect(huge.isFull({ ...limits, letters: 1 })).toBe(false);
});

test('pieces that are complete count no more', () => {
  const limits = { records: 1_000, letters: 80, fewest: 0 };
  const window = new RecordWindow('e', 1, 0, []);
  for (let seq = 1; seq <= 99; seq += 1) window.append(seq, seq, [piece(seq, 'x')]);
  const words = { item: 'm', text: 'y' };
  window.append(100, 100, [agent(100, 'text_block', words)]);
  window.all();
  expect(window.isFull(limits)).toBe(false);
});

test('texts are the same with and without the pieces they came in', () => {
  fc.assert(
    fc.property(anyRecords, (records) => {
      const window = new RecordWindow('e', 1, 0, []);
      window.append(1, records.length, records);
      const texts = (list: typeof records) =>
        deriveRows(list)
          .table.top.filter((row) => row.body.kind === 'text' && !row.body.isStreaming)
          .map((row) => row.body);
      const whole = texts(records);
      const kept = texts([...window.all()]);
      expect(kept.length).toBe(whole.length);
    }),
  );
});

test('a page of the newest records is cut before those that come between pieces', () => {
  const block = agent(1, 'text_block', { item: 'm', text: 'x' });
  expect(cutOf([block, status(2), status(3)])).toBe(1);
  expect(cutOf([status(1)])).toBe(1);
  expect(cutOf([])).toBe(0);
});

test('a text is not cut off by what a subagent or the machinery did meanwhile', () => {
  const call = agent(1, 'tool_started', { item: 'task', name: 'Task', kind: 'agent', state: 'running' });
  const inner = agent(5, 'text_block', { item: 's', text: 'of a subagent' }, 'task');
  const task = agent(7, 'task_updated', { task_id: 'x', state: 'running' });
  expect(cutOf([call, inner, status(6), task])).toBe(1);
});

test('the output of a command that still runs comes whole, unless it began long ago', () => {
  const started = (seq: number, item: string) =>
    agent(seq, 'tool_started', { item, name: 'Bash', kind: 'execute', state: 'running' });
  const done = (seq: number, item: string) => agent(seq, 'tool_finished', { item, status: 'completed' });
  expect(cutOf([started(1, 'a'), started(4, 'b'), done(9, 'b')])).toBe(1);
  expect(cutOf([started(1, 'a'), started(4, 'b'), done(9, 'b'), done(10, 'a')])).toBe(2);
  const others = Array.from({ length: 150 }, (_, at) => started(2 + 2 * at, `o${at}`)).flatMap((each, at) => [
    each,
    done(3 + 2 * at, `o${at}`),
  ]);
  expect(cutOf([started(1, 'a'), ...others])).toBe(300);
});

test('nothing is open in a run that has ended', () => {
  const ended = run(3, 'run_ended', { reason: 'completed' });
  expect(cutOf([status(1), status(2), ended])).toBe(3);
});
