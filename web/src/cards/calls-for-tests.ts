import type { ToolCall } from '../run/tool-call';

/** A call that went well, with what a test wants otherwise. */
export function callOf(parts: Partial<ToolCall>): ToolCall {
  const state = parts.state ?? 'completed';
  const isOver = !['preparing', 'running', 'waiting'].includes(state);
  return {
    item: `item ${parts.name ?? ''} ${parts.seq ?? 1}`,
    seq: 1,
    finishedSeq: isOver ? 2 : null,
    name: 'Tool',
    kind: 'other',
    subject: null,
    mcpServer: null,
    input: {},
    partialInput: null,
    state,
    output: isOver ? '' : null,
    outputBytes: null,
    attachments: [],
    exitCode: null,
    changes: [],
    startedAt: '2026-01-01T10:00:00.000Z',
    endedAt: isOver ? '2026-01-01T10:00:01.200Z' : null,
    elapsedMs: isOver ? 1_200 : null,
    parent: null,
    raw: [],
    attempt: 1,
    iteration: 1,
    ...parts,
  };
}
