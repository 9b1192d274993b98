import { endWords } from '../../layout/activity-words';
import { formatCost, formatDuration } from '../../layout/format';
import type { Cost } from '../../wire';
import type { RowBody } from '../row';
import { outcomeWords, tokenWords } from './outcome-words';

/** The end of a turn or of the run: how it went, and what it took. */
export function EndCard({ body }: { body: Extract<RowBody, { kind: 'turn_end' | 'run_end' }> }) {
  if (body.kind === 'run_end') {
    const { reason, totals, iterations, message, exit_code } = body.run;
    const { words, tone } = endWords(reason);
    const facts: Fact[] = [
      ['Iterations', String(iterations)],
      ['Turns', String(totals.turns)],
      ['Duration', formatDuration(totals.duration_ms)],
      ['Tokens', tokenWords(totals.tokens)],
      ['Cost', formatCost(totals.cost, totals.is_estimate)],
      ['Exit code', String(exit_code)],
    ];
    return <Card title={`Run ended: ${words}`} isBad={tone === 'bad'} facts={facts} note={message} />;
  }
  const { turn, usage } = body;
  const facts: Fact[] = [
    ['Steps', turn.steps === undefined || turn.steps === null ? null : String(turn.steps)],
    [
      'Duration',
      turn.duration_ms === undefined || turn.duration_ms === null ? null : formatDuration(turn.duration_ms),
    ],
    ['Tokens', usage ? tokenWords(usage.tokens) : null],
    // The run's total so far is not what the turn cost.
    ['Cost', usage?.cost ? costOf(usage.cost) : null],
    ['Not allowed', turn.denials?.length ? String(turn.denials.length) : null],
  ];
  const isBad = turn.outcome !== 'succeeded';
  const title = `Turn ${turn.number}: ${outcomeWords(turn.outcome)}`;
  return <Card title={title} isBad={isBad} facts={facts} note={turn.error?.message} />;
}

type Fact = [name: string, value: string | null];

function costOf(cost: Cost): string {
  return formatCost(cost.micro_usd, cost.source === 'estimated');
}

interface CardProps {
  title: string;
  isBad: boolean;
  facts: Fact[];
  note: string | null | undefined;
}

function Card({ title, isBad, facts, note }: CardProps) {
  return (
    <div className={`rounded-lg border px-3 py-1.5 ${isBad ? 'border-bad' : 'border-line'} bg-raised`}>
      <p className={`font-medium ${isBad ? 'text-bad' : ''}`}>{title}</p>
      {note && <p className="whitespace-pre-wrap">{note}</p>}
      <dl className="flex flex-wrap gap-x-5 text-muted text-xs tabular-nums">
        {facts.map(([name, value]) =>
          value === null ? null : (
            <div key={name} className="flex gap-1.5">
              <dt>{name}</dt>
              <dd className="text-ink">{value}</dd>
            </div>
          ),
        )}
      </dl>
    </div>
  );
}
