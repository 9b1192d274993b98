import { formatDuration } from '../../layout/format';
import type { ToolCall } from '../tool-call';

/** A tool call in one line: what is shown while the cards are loaded, and where a card breaks. */
export function GenericCard({ call }: { call: ToolCall }) {
  return (
    <div className="flex min-w-0 items-baseline gap-2">
      <span className="shrink-0 font-medium">{call.name}</span>
      <span className="min-w-0 truncate font-mono text-muted text-xs">{call.subject}</span>
      <span className="ml-auto shrink-0 text-faint text-xs">
        {call.state}
        {call.elapsedMs !== null && ` · ${formatDuration(call.elapsedMs)}`}
      </span>
    </div>
  );
}
