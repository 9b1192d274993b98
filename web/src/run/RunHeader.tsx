import { Link } from '@tanstack/react-router';
import { ListTodo } from 'lucide-react';
import {
  formatCost,
  formatCount,
  formatDuration,
  formatElapsed,
  formatShortTime,
  formatTime,
  shortPath,
} from '../layout/format';
import { StateBadge } from '../layout/StateBadge';
import { useNow } from '../layout/use-now';
import { PERMISSION_WORDS, permissionOf } from '../new-run/derive-agent';
import { elapsedOf } from '../runs/derive-runs';
import type { PlanEntry, RunSummary } from '../wire';
import { COLUMN } from './column';

/** What a run is and how it stands. It keeps its height while it loads. */
export function RunHeader({ run, id, plan }: { run: RunSummary | undefined; id: string; plan: PlanEntry[] }) {
  const now = useNow(run !== undefined && !run.ended_at);
  return (
    <header className="shrink-0 border-line border-b">
      <div className={`${COLUMN} py-2`}>
        <div className="flex min-w-0 items-center gap-2">
          <h1 className="min-w-0 flex-1 truncate font-semibold text-base" title={run?.title}>
            {run ? run.title || run.task || id : id}
          </h1>
          {run && (
            <span className="flex max-w-1/2">
              <StateBadge activity={run.activity} />
            </span>
          )}
        </div>
        {/* In a wide window it stays one line, however long its figures get: nothing below may move. */}
        <div className="mt-0.5 flex min-h-5 flex-wrap items-center gap-x-4 gap-y-0.5 text-muted text-xs tabular-nums xl:flex-nowrap xl:overflow-hidden xl:whitespace-nowrap">
          {run && <Facts run={run} now={now} />}
        </div>
        <PlanFact plan={plan} />
        {run?.message && <p className="mt-1 break-words text-muted text-xs">{run.message}</p>}
      </div>
    </header>
  );
}

function Facts({ run, now }: { run: RunSummary; now: number }) {
  const { tokens } = run.totals;
  const read = tokens.input + tokens.cache_read + tokens.cache_write;
  return (
    <>
      <span className="min-w-0 truncate" title={run.workspace}>
        {shortPath(run.workspace)}
      </span>
      <span>{[run.display_name, run.model].filter(Boolean).join(' · ')}</span>
      <Permission mode={run.permission_mode ?? null} />
      {run.kind === 'loop' && run.iteration > 0 && <span>iteration {run.iteration}</span>}
      <span title="Cost">{formatCost(run.totals.cost_micro_usd, run.totals.is_estimate)}</span>
      <span
        title={`In: ${tokens.input} new, ${tokens.cache_read} from the cache, ${tokens.cache_write} into it`}
      >
        {formatCount(read)} in, {formatCount(tokens.output)} out
      </span>
      {run.context && <ContextUse used={run.context.used} size={run.context.size ?? null} />}
      <time dateTime={run.started_at} title={`Began ${formatTime(run.started_at)}`}>
        began {formatShortTime(run.started_at, new Date(now))}
      </time>
      <span title="Time it took">
        {run.ended_at ? formatDuration(elapsedOf(run, now)) : formatElapsed(elapsedOf(run, now))}
      </span>
      {run.resumed_from && (
        <Link to="/runs/$id" params={{ id: run.resumed_from }} className="text-accent underline">
          goes on from an earlier run
        </Link>
      )}
    </>
  );
}

/** What happens without asking, in the words of the menu that changes it. */
function Permission({ mode }: { mode: string | null }) {
  const known = permissionOf(mode);
  if (!known) return mode && <span title="What happens without asking">{mode}</span>;
  return <span title={PERMISSION_WORDS[known].means}>{PERMISSION_WORDS[known].name}</span>;
}

function ContextUse({ used, size }: { used: number; size: number | null }) {
  if (!size) return <span title="Tokens in the model's context">context {formatCount(used)}</span>;
  const percent = Math.min(100, Math.round((used / size) * 100));
  return (
    <span title={`${used} of ${size} tokens`} className={percent > 80 ? 'text-warn' : undefined}>
      context {percent} %
    </span>
  );
}

function PlanFact({ plan }: { plan: PlanEntry[] }) {
  if (plan.length === 0) return null;
  const done = plan.filter((entry) => entry.status === 'completed').length;
  const now = plan.find((entry) => entry.status === 'in_progress');
  return (
    <p
      className="mt-0.5 flex min-w-0 items-center gap-1 text-muted text-xs tabular-nums"
      title={plan.map((entry) => entry.text).join('\n')}
    >
      <ListTodo aria-hidden className="size-3.5 shrink-0" />
      <span className="truncate">
        {done} of {plan.length} done{now ? `: ${now.text}` : ''}
      </span>
    </p>
  );
}
