import type { Delta, RunRecord, ToolFinished, ToolProgressed, ToolStarted } from '../wire';
import { isDropped } from './derive-dropped';
import { parentOf, rawOf } from './row-table';
import type { ToolCall } from './tool-call';

/** A running tool's output is kept up to this length: its end. The whole comes with its end. */
export const MOST_LIVE_OUTPUT = 65_536;

/** A call of which only the name is known, or not even that. */
export function newCall(record: RunRecord, item: string): ToolCall {
  return {
    item,
    seq: record.seq,
    finishedSeq: null,
    name: 'Tool',
    kind: 'other',
    subject: null,
    mcpServer: null,
    input: null,
    partialInput: null,
    state: 'preparing',
    output: null,
    outputBytes: null,
    attachments: [],
    exitCode: null,
    changes: [],
    // Of a call that began before what is held here, nobody knows when.
    startedAt: record.event.type === 'tool_started' || isInput(record) ? record.at : null,
    endedAt: null,
    elapsedMs: null,
    parent: parentOf(record),
    raw: rawOf(record),
    attempt: record.attempt,
    iteration: record.iteration,
  };
}

function isInput({ event }: RunRecord): boolean {
  return event.type === 'delta' && event.data.part === 'tool_input';
}

/** What says something runs. */
function begun({ state }: ToolCall): ToolCall['state'] {
  return state === 'preparing' ? 'running' : state;
}

export function callStarted(call: ToolCall, record: RunRecord, data: ToolStarted): ToolCall {
  const input = data.input === undefined || isDropped(data.input) ? null : data.input;
  const isOver = call.finishedSeq !== null;
  return {
    ...call,
    name: data.name,
    kind: data.kind,
    subject: data.subject ?? call.subject,
    mcpServer: data.mcp_server ?? call.mcpServer,
    input: input ?? call.input,
    partialInput: data.state === 'running' ? null : call.partialInput,
    state: isOver || call.state === 'waiting' ? call.state : data.state,
    // Writing the arguments is not running.
    startedAt: call.state === 'preparing' ? record.at : call.startedAt,
    raw: data.state === 'running' ? [...rawOf(record), ...call.raw.slice(1)] : call.raw,
  };
}

export function callProgressed(call: ToolCall, data: ToolProgressed): ToolCall {
  return { ...call, state: begun(call), elapsedMs: data.elapsed_ms ?? call.elapsedMs };
}

export function callFinished(call: ToolCall, record: RunRecord, data: ToolFinished): ToolCall {
  return {
    ...call,
    finishedSeq: record.seq,
    state: data.status,
    output: data.output,
    outputBytes: data.output_bytes ?? null,
    attachments: data.attachments ?? [],
    exitCode: data.exit_code ?? null,
    changes: data.changes ?? [],
    partialInput: null,
    endedAt: record.at,
    elapsedMs: call.startedAt === null ? call.elapsedMs : msBetween(call.startedAt, record.at),
    raw: [...call.raw.slice(0, 1), ...rawOf(record)],
  };
}

export function callDelta(call: ToolCall, data: Delta): ToolCall {
  const before =
    (data.mode === 'snapshot' ? null : data.part === 'tool_input' ? call.partialInput : call.output) ?? '';
  const text = before + data.text;
  if (data.part === 'tool_input') return { ...call, partialInput: text };
  return {
    ...call,
    state: begun(call),
    output: text.length > MOST_LIVE_OUTPUT ? text.slice(-MOST_LIVE_OUTPUT) : text,
  };
}

/** Never below zero: clocks go back. */
export function msBetween(from: string, to: string): number | null {
  const ms = Date.parse(to) - Date.parse(from);
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}
