import { useMemo } from 'react';
import { awaitsMessage } from '../layout/activity-words';
import { useAgent } from '../new-run/use-agents';
import { COLUMN } from '../run/column';
import type { RunFeed } from '../run/run-feed';
import type { RunSummary } from '../wire';
import { Approvals } from './approvals/Approvals';
import { Composer } from './Composer';
import { Controls } from './Controls';
import { deriveInput } from './derive-input';
import { lastRefusal } from './derive-refusal';
import { GoOn } from './GoOn';
import { QueueList } from './QueueList';
import './steer.css';
import { useOutbox } from './use-outbox';
import { useQueue } from './use-queue';

/** The foot of a run's page: what waits for an answer, the messages, the input, and what can be done with the run. */
export function RunFoot({ id, run, feed }: { id: string; run: RunSummary | undefined; feed: RunFeed }) {
  const agent = useAgent(run?.backend);
  const outbox = useOutbox(id);
  const { now, earlier } = useQueue(id, run, feed, outbox);
  const input = deriveInput(run, agent);
  // Rows are changed in place, so only the version tells that they were.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above.
  const refusal = useMemo(() => lastRefusal(feed.builder.table.top), [feed.version, feed]);
  const hasEnded = run?.activity.state === 'ended';
  return (
    <section
      aria-label="Steering"
      className="max-h-[75dvh] shrink-0 overflow-y-auto border-line border-t bg-raised"
    >
      <div className={`${COLUMN} grid grid-cols-[minmax(0,1fr)] gap-2 py-2`}>
        <Approvals id={id} run={run} rows={feed.builder.table.top} />
        <QueueList run={id} now={now} earlier={earlier} outbox={outbox} />
        {input.is === 'open' && (
          <Composer outbox={outbox} isBusy={run !== undefined && !awaitsMessage(run.activity)} />
        )}
        <div className="flex min-h-[1.875rem] flex-wrap items-center gap-1">
          {input.is === 'absent' && <span className="mr-2 text-muted">{input.why}</span>}
          {run && !hasEnded && <Controls run={run} agent={agent} refusal={refusal} />}
          {run && hasEnded && <GoOn run={run} agent={agent} outbox={outbox} />}
        </div>
      </div>
    </section>
  );
}
