import type { ToolCall } from '../run/tool-call';

/** How long a call takes or took, in milliseconds; null where nobody knows. Never below zero: clocks differ. */
export function deriveElapsed(call: ToolCall, now: number): number | null {
  if (call.state === 'preparing') return null;
  const isOver = call.finishedSeq !== null;
  if (isOver) return call.elapsedMs;
  const since = call.startedAt === null ? Number.NaN : now - Date.parse(call.startedAt);
  const longest = Math.max(call.elapsedMs ?? 0, Number.isFinite(since) ? since : 0);
  return call.elapsedMs === null && !Number.isFinite(since) ? null : Math.max(0, longest);
}
