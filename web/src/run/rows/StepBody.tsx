import { actorName } from '../derive-actor';
import { useOpen } from '../kept-state';
import type { Row } from '../row';
import { iterationTitle, type LineProps, lineOf } from './derive-line';
import { EndCard } from './EndCard';
import type { StepRowBody } from './row-look';
import { UserBody } from './TextBody';

/** Rows that are a line, with more beneath it where there is more. */
export function StepBody({ row, body }: { row: Row; body: StepRowBody }) {
  switch (body.kind) {
    case 'turn_end':
    case 'run_end':
      return <EndCard body={body} />;
    case 'iteration_start':
      return (
        <>
          <p className="font-medium">{iterationTitle(body.iteration)}</p>
          <UserBody row={row} text={body.iteration.prompt} origin="user" label="Prompt" />
        </>
      );
    case 'command':
      if (body.command.command === 'send' && body.command.text) {
        const state = body.state ? SENT[body.state] : '';
        const name = actorName(body.command.by);
        const by = name ? ` (${name})` : '';
        return <UserBody row={row} text={body.command.text} origin="user" label={`You${by} · ${state}`} />;
      }
      return <Line {...lineOf(body)} name={row.key} />;
    case 'plan':
      return (
        <ul className="space-y-0.5">
          {body.entries.map((entry, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: entries have no names, and the list is replaced as a whole.
            <li key={index} className={entry.status === 'completed' ? 'text-muted line-through' : undefined}>
              {PLAN[entry.status] ?? '·'} {entry.text}
            </li>
          ))}
        </ul>
      );
    default:
      return <Line {...lineOf(body)} name={row.key} />;
  }
}

const PLAN = { pending: '○', in_progress: '◐', completed: '●', cancelled: '✕' };

const SENT = {
  queued: 'queued',
  sent: 'sent',
  started: 'the agent has it',
  completed: 'done',
  cancelled: 'taken back',
  withdrawn: 'taken back',
  refused: 'refused',
};

const TONES = { bad: 'text-bad', warn: 'text-warn', muted: 'text-muted' };

function Line({ words, more, details, tone, name }: LineProps & { name: string }) {
  const [isOpen, setOpen] = useOpen(`${name} open`, false);
  const className = `${tone ? TONES[tone] : ''} min-w-0`;
  const text = (
    <>
      {words}
      {more && <span className="ml-2 text-muted text-xs">{more}</span>}
    </>
  );
  if (!details) return <p className={className}>{text}</p>;
  return (
    <>
      <button
        type="button"
        aria-expanded={isOpen}
        className={`${className} text-left underline decoration-dotted underline-offset-4`}
        onClick={() => setOpen(!isOpen)}
      >
        {text}
      </button>
      {isOpen && (
        <figure
          tabIndex={0}
          aria-label="Details"
          className="my-1 max-h-80 overflow-auto whitespace-pre-wrap rounded border border-line bg-sunken p-2 font-mono text-xs leading-5"
        >
          {details}
        </figure>
      )}
    </>
  );
}
