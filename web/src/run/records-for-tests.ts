import fc from 'fast-check';
import type { RunRecord } from '../wire';

/** A record with an event of the agent. */
export function agent(seq: number, type: string, data: unknown, parent?: string): RunRecord {
  const event = { agent_kind: 'demo', raw: { line: seq, offset: seq * 100, length: 99 }, type, data };
  return stamped(seq, parent ? { ...event, parent } : event);
}

/** The same record, of another process of the run. */
export function inProcess(iteration: number, attempt: number, record: RunRecord): RunRecord {
  return { ...record, iteration, attempt };
}

/** A record with an event of the run. */
export function run(seq: number, type: string, data: unknown): RunRecord {
  return stamped(seq, { type, data });
}

function stamped(seq: number, event: unknown): RunRecord {
  const at = new Date(Date.UTC(2026, 0, 1) + seq * 1000).toISOString();
  return { seq, at, iteration: 1, attempt: 1, event } as unknown as RunRecord;
}

const item = fc.constantFrom('a', 'b', 'c', 'd');
const text = fc.string({ maxLength: 12 });

const event: fc.Arbitrary<[string, object]> = fc.oneof(
  fc
    .record({
      item,
      part: fc.constantFrom('text', 'thinking', 'tool_input', 'tool_output'),
      mode: fc.constantFrom('append', 'snapshot'),
      text,
    })
    .map((data): [string, object] => ['delta', data]),
  fc.record({ item, text }).map((data): [string, object] => ['text_block', data]),
  fc
    .record({ item, text, piece: fc.record({ index: fc.nat(2), is_last: fc.boolean() }) })
    .map((data): [string, object] => ['thinking_block', data]),
  fc
    .record({ item, text, origin: fc.constant('user') })
    .map((data): [string, object] => ['user_message', data]),
  fc
    .record({
      item,
      name: fc.constantFrom('Bash', 'Edit'),
      kind: fc.constant('execute'),
      state: fc.constantFrom('preparing', 'running'),
    })
    .map((data): [string, object] => ['tool_started', data]),
  fc.record({ item, elapsed_ms: fc.nat() }).map((data): [string, object] => ['tool_progressed', data]),
  fc
    .record({ item, status: fc.constantFrom('completed', 'failed'), output: text })
    .map((data): [string, object] => ['tool_finished', data]),
  fc.record({ item, reason: fc.constant('retry') }).map((data): [string, object] => ['item_discarded', data]),
  fc.record({ item, entries: fc.constant([]) }).map((data): [string, object] => ['plan_updated', data]),
  fc
    .record({ request: item, item, tool: fc.constant('Bash'), kind: fc.constant('execute') })
    .map((data): [string, object] => ['permission_requested', data]),
  fc
    .record({ request: item, reason: fc.constantFrom('answered', 'denied') })
    .map((data): [string, object] => ['request_closed', data]),
  fc
    .record({ task_id: item, item, state: fc.constant('running') })
    .map((data): [string, object] => ['task_updated', data]),
  fc.record({ command: text }).map((data): [string, object] => ['verify_started', data]),
  fc
    .record({ message_id: item, state: fc.constant('queued') })
    .map((data): [string, object] => ['message_updated', data]),
  fc
    .record({
      command_id: item,
      command: fc.constantFrom('send', 'edit_message', 'withdraw_message', 'stop'),
      message_id: item,
      text,
    })
    .map((data): [string, object] => ['command_received', data]),
  fc.constantFrom<[string, object]>(
    ['status_changed', { status: 'thinking' }],
    ['tomorrow', { what: 1 }],
    ['error', {}],
    ['turn_finished', { number: 1, outcome: 'succeeded' }],
  ),
);

/** Records of a run as no agent would write it: everything in any order. */
export const anyRecords: fc.Arbitrary<RunRecord[]> = fc
  .array(fc.tuple(event, fc.option(item, { nil: undefined, freq: 4 }), fc.integer({ min: 1, max: 2 })), {
    maxLength: 60,
  })
  .map((events) =>
    events.map(([[type, data], parent, attempt], index) =>
      inProcess(1, attempt, agent(index + 1, type, data, parent)),
    ),
  );
