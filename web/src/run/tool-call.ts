import type { FileChange, ToolKind } from '../wire';

export type { FileChange, ToolKind };

export type ToolCallState =
  | 'preparing'
  | 'running'
  | 'waiting'
  | 'completed'
  | 'failed'
  | 'denied'
  | 'cancelled'
  | 'background';

/**
 * Where the agent's own words are: bytes of the output of one process of the run. The process is named as records
 * name it, by the attempt of an iteration; `fetchRaw` finds its file.
 */
export interface RawRef {
  iteration: number;
  attempt: number;
  offset: number;
  length: number;
}

/** A tool call as every card gets it: everything that is known about it so far. */
export interface ToolCall {
  item: string;
  seq: number;
  finishedSeq: number | null;
  name: string;
  kind: ToolKind;
  subject: string | null;
  mcpServer: string | null;
  /** Parsed JSON arguments; null while they are being written, or dropped. */
  input: unknown;
  /** The arguments so far, while they are being written. */
  partialInput: string | null;
  state: ToolCallState;
  output: string | null;
  /** The whole size if `output` was cut. */
  outputBytes: number | null;
  attachments: string[];
  exitCode: number | null;
  changes: FileChange[];
  startedAt: string | null;
  endedAt: string | null;
  elapsedMs: number | null;
  parent: string | null;
  /** Where it began and ended in the raw log. */
  raw: RawRef[];
  attempt: number;
  iteration: number;
}

/** A name of the call that no other call of the run has: agents count their items anew in every process. */
export function callKey({ iteration, attempt, item }: ToolCall): string {
  return `${iteration}/${attempt}/${item}`;
}

/** Whether nothing more will come of the call. */
export function isSettled(call: ToolCall): boolean {
  return !['preparing', 'running', 'waiting'].includes(call.state);
}
