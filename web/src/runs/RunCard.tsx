import { Link } from '@tanstack/react-router';
import { TriangleAlert } from 'lucide-react';
import { memo } from 'react';
import {
  formatCost,
  formatDuration,
  formatElapsed,
  formatShortTime,
  formatTime,
  shortPath,
} from '../layout/format';
import { StateBadge } from '../layout/StateBadge';
import type { RunSummary } from '../wire';
import { elapsedOf, isWaiting } from './derive-runs';

/** One run in the list: what it is for, what it is doing, what it cost, and how long it takes. */
export const RunCard = memo(function RunCard({ run, now }: { run: RunSummary; now: number }) {
  const waits = isWaiting(run);
  return (
    <li className={waits ? 'bg-warn-soft/40' : undefined}>
      <Link
        to="/runs/$id"
        params={{ id: run.id }}
        data-run={run.id}
        className="grid grid-cols-[minmax(0,1fr)_fit-content(50%)] gap-x-4 gap-y-1 px-3 py-2 hover:bg-hover focus-visible:-outline-offset-2"
      >
        <span className="line-clamp-2 font-medium sm:line-clamp-1">{run.title || run.task || run.id}</span>
        <span className="flex min-w-0 items-start justify-end">
          <StateBadge activity={run.activity} />
        </span>
        <span className="flex min-w-0 flex-wrap items-center gap-x-3 text-muted text-xs">
          <span className="truncate" title={run.workspace}>
            {shortPath(run.workspace)}
          </span>
          <span>{[run.display_name, run.model].filter(Boolean).join(' · ')}</span>
          <time dateTime={run.started_at} title={`Began ${formatTime(run.started_at)}`}>
            <span className="sr-only">Began </span>
            {formatShortTime(run.started_at, new Date(now))}
          </time>
          {run.kind === 'loop' && run.iteration > 0 && <span>iteration {run.iteration}</span>}
          {run.pending > 1 && <span className="text-warn">{run.pending} questions</span>}
          {run.errors > 0 && (
            <span className="flex items-center gap-1 text-bad">
              <TriangleAlert aria-hidden className="size-3.5" />
              {run.errors === 1 ? '1 error' : `${run.errors} errors`}
            </span>
          )}
        </span>
        <span className="flex items-center justify-end gap-3 text-muted text-xs tabular-nums">
          <span title="Cost">{formatCost(run.totals.cost_micro_usd, run.totals.is_estimate)}</span>
          <span className="min-w-18 text-right" title="Time it took">
            {run.ended_at ? formatDuration(elapsedOf(run, now)) : formatElapsed(elapsedOf(run, now))}
          </span>
        </span>
      </Link>
    </li>
  );
});
