import type { RunRecord, Task, Usage } from '../wire';
import { cutOff } from './cut-off';
import { answerOf } from './derive-answer';
import { bodyOfOne, machinery } from './derive-one';
import { callDelta, callFinished, callProgressed, callStarted, newCall } from './derive-tool-call';
import type { Ask, Row, RowBody, SentState } from './row';
import { itemKey, parentOf, RowTable } from './row-table';
import { commandBody, SentMessages } from './sent-messages';
import type { ToolCall } from './tool-call';

type EventOf<T> = Extract<RunRecord['event'], { type: T }>;
type DataOf<T> = EventOf<T> extends { data: infer D } ? D : never;

/**
 * Makes rows of records, one after another: each costs the same, however many there are. Records of a window begin
 * anywhere, so every one of them may speak of something that was never seen to begin.
 */
export class RowBuilder {
  readonly table = new RowTable();
  /** The agent's list of things to do, as it stands. */
  plan: DataOf<'plan_updated'>['entries'] = [];
  private turnUsage: Usage | null = null;
  private openVerify: Row | null = null;
  private iterationPrompt: Row | null = null;
  /** The newest that was asked under an id: answers do not say which process asked. */
  private readonly asks = new Map<string, Row>();
  private readonly sent = new SentMessages();

  append(records: readonly RunRecord[]): void {
    for (const record of records) {
      try {
        this.take(record);
      } catch {
        // A record that is not what its type says, as from a newer version, is shown as it is.
        this.add(record, machinery(record, false));
      }
    }
  }

  private take(record: RunRecord): void {
    const { event } = record;
    switch (event.type) {
      case 'delta':
        this.delta(record, event.data);
        break;
      case 'text_block':
        this.block('text', record, event.data, (text, isStreaming) => ({
          kind: 'text',
          text,
          isStreaming,
          isAborted: event.data.is_aborted ?? false,
        }));
        break;
      case 'thinking_block':
        this.block('thinking', record, event.data, (text, isStreaming) => ({
          kind: 'thinking',
          text,
          isStreaming,
          isRedacted: event.data.is_redacted ?? false,
        }));
        break;
      case 'user_message':
        this.userMessage(record, event.data);
        break;
      case 'tool_started':
        this.call(record, event.data.item, (call) => callStarted(call, record, event.data));
        break;
      case 'tool_progressed':
        this.call(record, event.data.item, (call) => callProgressed(call, event.data));
        break;
      case 'tool_finished':
        this.call(record, event.data.item, (call) => callFinished(call, record, event.data));
        break;
      case 'item_discarded':
        for (const kind of ['text', 'thinking', 'user', 'tool']) {
          const row = this.table.find(itemKey(kind, record, event.data.item));
          if (row) this.table.remove(row);
        }
        break;
      case 'plan_updated':
        this.planUpdated(record, event.data);
        break;
      case 'permission_requested':
        this.asked(record, { type: 'permission', data: event.data });
        break;
      case 'question_asked':
        this.asked(record, { type: 'question', data: event.data });
        break;
      case 'plan_proposed':
        this.asked(record, { type: 'plan', data: event.data });
        break;
      case 'request_closed':
        this.closed(record, event.data);
        break;
      case 'task_updated':
        this.task(record, event.data);
        break;
      case 'verify_started':
        this.openVerify = this.add(record, { kind: 'verify', command: event.data.command, result: null });
        break;
      case 'verify_finished':
        this.verified(record, event.data);
        break;
      case 'usage':
        if (event.data.scope === 'turn') this.turnUsage = event.data;
        this.other(record);
        break;
      case 'turn_finished':
        this.add(record, { kind: 'turn_end', turn: event.data, usage: this.turnUsage });
        this.turnUsage = null;
        break;
      case 'iteration_started':
        this.iterationPrompt = this.add(record, { kind: 'iteration_start', iteration: event.data });
        break;
      case 'command_received':
        this.commanded(record, event.data);
        break;
      case 'message_sent':
        this.messageIs(record, event.data.message_id, 'sent');
        break;
      case 'message_updated':
        this.messageIs(record, event.data.message_id, event.data.state);
        break;
      default:
        if (event.type === 'attempt_ended' || event.type === 'run_ended') cutOff(this.table, record);
        this.add(record, bodyOfOne(record));
    }
  }

  private add(record: RunRecord, body: RowBody): Row {
    return this.table.add(`${body.kind}@${record.seq}`, record, body);
  }

  private other(record: RunRecord): void {
    this.add(record, machinery(record, true));
  }

  private delta(record: RunRecord, data: DataOf<'delta'>): void {
    if (data.part === 'tool_input' || data.part === 'tool_output') {
      this.call(record, data.item, (call) => (call.finishedSeq === null ? callDelta(call, data) : call));
      return;
    }
    const key = itemKey(data.part, record, data.item);
    const row = this.table.find(key);
    const make = (text: string): RowBody =>
      data.part === 'text'
        ? { kind: 'text', text, isStreaming: true, isAborted: false }
        : { kind: 'thinking', text, isStreaming: true, isRedacted: false };
    if (!row) {
      this.table.add(key, record, make(data.text));
      return;
    }
    if (row.body.kind !== 'text' && row.body.kind !== 'thinking') return;
    // A block is the last word about its item.
    if (!row.body.isStreaming) return;
    this.table.change(row, record, make(data.mode === 'snapshot' ? data.text : row.body.text + data.text));
  }

  private block(
    kind: 'text' | 'thinking',
    record: RunRecord,
    data: DataOf<'text_block'> | DataOf<'thinking_block'>,
    make: (text: string, isStreaming: boolean) => RowBody,
  ): void {
    const piece = data.piece ?? { index: 0, is_last: true };
    const key = itemKey(kind, record, data.item);
    const row = this.table.find(key);
    const before = row && piece.index > 0 && 'text' in row.body ? row.body.text : '';
    const body = make(before + data.text, !piece.is_last);
    if (!row) {
      this.table.add(key, record, body);
      return;
    }
    this.table.change(row, record, body);
    if (piece.index === 0) row.linkSeq = record.seq;
  }

  private userMessage(record: RunRecord, data: DataOf<'user_message'>): void {
    const piece = data.piece ?? { index: 0, is_last: true };
    const key = itemKey('user', record, data.item);
    const row = this.table.find(key);
    if (!row) {
      // The prompt of an iteration and a message from here stand in a row of their own already.
      const echo = parentOf(record) === null && piece.is_last ? this.echoOf(data.text) : null;
      if (echo) this.table.note(echo, record);
      else this.table.add(key, record, { kind: 'user', text: data.text, origin: data.origin });
      return;
    }
    const before = piece.index > 0 && row.body.kind === 'user' ? row.body.text : '';
    this.table.change(row, record, { kind: 'user', text: before + data.text, origin: data.origin });
  }

  private echoOf(text: string): Row | null {
    const prompt = this.iterationPrompt?.body;
    if (prompt?.kind === 'iteration_start' && prompt.iteration.prompt.trim() === text.trim()) {
      return this.iterationPrompt;
    }
    return this.sent.withText(text);
  }

  private commanded(record: RunRecord, command: DataOf<'command_received'>): void {
    const asked = command.request ? this.asks.get(command.request) : undefined;
    // What was asked says itself how it was answered; an answer that came too late is a row.
    if (command.command === 'answer' && !command.refused && asked?.body.kind === 'ask') {
      const answer = answerOf(command, asked.body.ask);
      this.table.change(asked, record, { ...asked.body, ...answer, closedAt: record.at });
      return;
    }
    this.sent.commanded(this.add(record, commandBody(command)));
  }

  private messageIs(record: RunRecord, id: string, state: SentState): void {
    const row = this.sent.update(id, state);
    if (row) this.table.note(row, record);
    else this.other(record);
  }

  private call(record: RunRecord, item: string, next: (call: ToolCall) => ToolCall): void {
    const key = itemKey('tool', record, item);
    const row =
      this.table.find(key) ??
      this.table.add(key, record, { kind: 'tool', call: newCall(record, item), task: null });
    if (row.body.kind !== 'tool') return;
    const call = next(row.body.call);
    if (call === row.body.call) return;
    this.table.change(row, record, { ...row.body, call });
    row.raw = call.raw;
  }

  private toolOf(process: Row | RunRecord, item: string | null | undefined): Row | undefined {
    return item ? this.table.find(itemKey('tool', process, item)) : undefined;
  }

  private planUpdated(record: RunRecord, data: DataOf<'plan_updated'>): void {
    if (parentOf(record) === null) this.plan = data.entries;
    const row = this.toolOf(record, data.item);
    if (row) this.table.note(row, record);
    else this.add(record, { kind: 'plan', entries: data.entries });
  }

  private asked(record: RunRecord, ask: Ask): void {
    const { request } = ask.data;
    const key = itemKey('ask', record, request);
    const hasCard = this.toolOf(record, ask.data.item) !== undefined;
    const open = { state: 'pending', answerer: null, closedAt: null } as const;
    const body: RowBody = { kind: 'ask', ask, request, ...open, granted: [], hasCard };
    const known = this.table.find(key);
    if (known) this.table.change(known, record, body);
    const row = known ?? this.table.add(key, record, body);
    this.asks.set(request, row);
    this.waits(row, ask, true);
  }

  private closed(record: RunRecord, data: DataOf<'request_closed'>): void {
    const row = this.asks.get(data.request);
    if (row?.body.kind !== 'ask') {
      this.other(record);
      return;
    }
    const closedAt = row.body.closedAt ?? record.at;
    this.table.change(row, record, { ...row.body, state: data.reason, closedAt });
    this.waits(row, row.body.ask, false);
  }

  /** A call whose permission is asked for waits. */
  private waits(asked: Row, ask: Ask, isWaiting: boolean): void {
    const row = this.toolOf(asked, ask.data.item);
    if (row?.body.kind !== 'tool' || row.body.call.finishedSeq !== null) return;
    const state = isWaiting ? 'waiting' : 'running';
    row.body = { ...row.body, call: { ...row.body.call, state } };
    row.version += 1;
  }

  private task(record: RunRecord, task: Task): void {
    const caller = this.toolOf(record, task.item);
    if (caller?.body.kind === 'tool') {
      this.table.change(caller, record, { ...caller.body, task });
      return;
    }
    const key = itemKey('task', record, task.task_id);
    const row = this.table.find(key);
    if (row) this.table.change(row, record, { kind: 'task', task });
    else this.table.add(key, record, { kind: 'task', task });
  }

  private verified(record: RunRecord, result: DataOf<'verify_finished'>): void {
    const [{ command }, open] = [result, this.openVerify];
    this.openVerify = null;
    const isIts = open?.body.kind === 'verify' && open.body.command === command;
    if (open && isIts) this.table.change(open, record, { kind: 'verify', command, result });
    else this.add(record, { kind: 'verify', command, result });
  }
}

/** All rows of some records. */
export function deriveRows(records: readonly RunRecord[]): RowBuilder {
  const builder = new RowBuilder();
  builder.append(records);
  return builder;
}
