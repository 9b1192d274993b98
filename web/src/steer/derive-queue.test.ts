import { expect, test } from 'vitest';
import { deriveRows } from '../run/derive-rows';
import type { RunRecord } from '../wire';
import {
  beforeTheList,
  canChange,
  deriveQueue,
  messagesOfRows,
  type OutgoingMessage,
  type StoredMessage,
  splitQueue,
} from './derive-queue';
import { summary } from './fakes-for-tests';

let seq = 0;
function record(type: string, data: object): RunRecord {
  seq += 1;
  const at = new Date(seq * 1_000).toISOString();
  return { seq, at, iteration: 1, attempt: 1, event: { type, data } } as unknown as RunRecord;
}

const sends = (id: string, text: string, more: object = {}) =>
  record('command_received', {
    command_id: id,
    command: 'send',
    message_id: id,
    text,
    mode: 'queue',
    ...more,
  });
const rowsOf = (...records: RunRecord[]) => messagesOfRows(deriveRows(records).table.top);
const outgoing = (change: Partial<OutgoingMessage> = {}): OutgoingMessage => ({
  key: 'k1',
  commandId: 'c1',
  messageId: null,
  text: 'hello',
  mode: 'steer',
  at: 1,
  problem: null,
  ...change,
});
const stored = (id: string, state: string): StoredMessage => ({
  id,
  command_id: `command of ${id}`,
  state,
  text: `stored ${id}`,
  mode: 'queue',
  at: '1970-01-01T00:00:01Z',
});
const states = (messages: { id: string; state: string }[]) =>
  messages.map(({ id, state }) => `${id} ${state}`);

test('the activity says how far each message is', () => {
  const rows = rowsOf(
    sends('a', 'one'),
    sends('b', 'two'),
    sends('c', 'three'),
    sends('d', 'four'),
    record('message_sent', { message_id: 'b' }),
    record('message_updated', { message_id: 'c', state: 'started' }),
    record('command_received', { command_id: 'w', command: 'withdraw_message', message_id: 'd' }),
  );
  expect(states(rows)).toEqual(['a queued', 'b sent', 'c started', 'd withdrawn']);
});

test('a message that was changed says the new words', () => {
  const edit = { command_id: 'e', command: 'edit_message', message_id: 'a', text: 'better' };
  expect(rowsOf(sends('a', 'one'), record('command_received', edit))[0]?.text).toBe('better');
});

test('a message that the run refused is not in its queue', () => {
  expect(rowsOf(sends('a', 'one', { refused: 'no', message_id: undefined }))).toEqual([]);
});

test('of two accounts the one that is further counts', () => {
  const rows = rowsOf(sends('a', 'one'), sends('b', 'two'), record('message_sent', { message_id: 'b' }));
  const all = deriveQueue([stored('a', 'delivered'), stored('b', 'queued')], rows, [], false);
  expect(states(all)).toEqual(['a started', 'b sent']);
});

test('a message is there from the key press on, and once', () => {
  expect(states(deriveQueue([], [], [outgoing()], false))).toEqual(['k1 sending']);
  expect(states(deriveQueue([], [], [outgoing({ messageId: 'a' })], false))).toEqual(['a queued']);
  const rows = rowsOf(sends('a', 'hello'));
  expect(states(deriveQueue([], rows, [outgoing({ messageId: 'a' })], false))).toEqual(['a queued']);
});

test('a message that the run has is not told of as one that was not sent', () => {
  const reloaded = outgoing({ problem: 'The page was reloaded.', commandId: 'command of a' });
  expect(states(deriveQueue([stored('a', 'sent')], [], [reloaded], false))).toEqual(['a sent']);
  const rows = rowsOf(sends('b', 'hello', { command_id: 'command of a' }));
  expect(states(deriveQueue([], rows, [reloaded], false))).toEqual(['b queued']);
  expect(states(deriveQueue([stored('c', 'sent')], [], [reloaded], false))).toEqual(['k1 failed', 'c sent']);
});

test('whether a message arrived is not judged before the list of them is there', () => {
  const [reloaded, refused] = beforeTheList([
    outgoing({ problem: 'The page was reloaded.' }),
    outgoing({ problem: 'It is too long.', commandId: null }),
  ]);
  expect([reloaded?.problem, refused?.problem]).toEqual([null, 'It is too long.']);
});

test('a message that could not be sent stays, with the reason', () => {
  const [failed] = deriveQueue([], [], [outgoing({ problem: 'The run has ended.' })], true);
  expect(failed).toMatchObject({ state: 'failed', text: 'hello', problem: 'The run has ended.' });
});

test('what waited when the run ended is lost', () => {
  const all = deriveQueue([stored('a', 'queued'), stored('b', 'delivered')], [], [], true);
  expect(states(all)).toEqual(['a lost', 'b started']);
});

test('only what the agent was not given can be changed', () => {
  const all = deriveQueue([stored('a', 'queued'), stored('b', 'sent')], [], [outgoing()], false);
  expect(all.filter(canChange).map(({ id }) => id)).toEqual(['a']);
});

test('what the agent has is told of until it is idle', () => {
  const all = deriveQueue([stored('a', 'delivered'), stored('b', 'queued')], [], [], false);
  expect(states(splitQueue(all, summary()).now)).toEqual(['a started', 'b queued']);
  const idle = splitQueue(all, summary({ activity: { state: 'waiting', for: 'message' } }));
  expect(states(idle.now)).toEqual(['b queued']);
  expect(states(idle.earlier)).toEqual(['a started']);
});
