import { ChevronDown, ChevronRight } from 'lucide-react';
import type { Row, RowBody } from '../row';
import { GenericCard } from './GenericCard';
import { ToolCard } from './lazy-parts';
import { RowBoundary } from './RowBoundary';

interface Props {
  row: Row;
  body: Extract<RowBody, { kind: 'tool' }>;
  run: string;
  isFolded: boolean;
  onFold: (key: string) => void;
}

const TASKS = { running: 'works', completed: 'is done', failed: 'failed', stopped: 'was stopped' };

/** A tool call: its card, what its subagent or background task says, and a switch for the rows beneath it. */
export function ToolBody({ row, body, run, isFolded, onFold }: Props) {
  const { call, task } = body;
  const steps = row.children.length;
  return (
    <>
      <RowBoundary fallback={<GenericCard call={call} />} resetKey={row.version}>
        <ToolCard call={call} run={run} />
      </RowBoundary>
      {task && (
        <p className="text-muted text-xs">
          Task {TASKS[task.state] ?? task.state}
          {task.title ? `: ${task.title}` : ''}
          {task.summary ? ` — ${task.summary}` : ''}
        </p>
      )}
      {steps > 0 && (
        <button
          type="button"
          aria-expanded={!isFolded}
          className="flex items-center gap-1 text-accent text-xs"
          onClick={() => onFold(row.key)}
        >
          {isFolded ? (
            <ChevronRight aria-hidden className="size-3.5" />
          ) : (
            <ChevronDown aria-hidden className="size-3.5" />
          )}
          {steps === 1 ? '1 step of the subagent' : `${steps} steps of the subagent`}
        </button>
      )}
    </>
  );
}
