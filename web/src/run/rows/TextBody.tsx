import { useOpen } from '../kept-state';
import type { Row, RowBody } from '../row';
import { Markdown } from './lazy-parts';

/** A message longer than this is folded. */
const LONG = 700;

export function TextBody({ body }: { body: Extract<RowBody, { kind: 'text' }> }) {
  return (
    <>
      <Markdown text={body.text} isStreaming={body.isStreaming} />
      {body.isAborted && <p className="text-warn text-xs">Cut off here.</p>}
    </>
  );
}

export function ThinkingBody({ row, body }: { row: Row; body: Extract<RowBody, { kind: 'thinking' }> }) {
  const [isOpen, setOpen] = useOpen(`${row.key} open`, false);
  if (body.isRedacted) return <p className="text-muted text-xs">Thinking, which the vendor keeps secret.</p>;
  const text = body.text.trim();
  if (text === '' && !body.isStreaming)
    return <p className="text-muted text-xs">Thinking, which is not shown.</p>;
  return (
    <div className="text-muted">
      <button
        type="button"
        aria-expanded={isOpen}
        className="flex w-full min-w-0 gap-2 text-left"
        onClick={() => setOpen(!isOpen)}
      >
        <span className="shrink-0 text-think">{body.isStreaming ? 'Thinking…' : 'Thinking'}</span>
        {!isOpen && <span className="truncate italic">{lastLine(text, body.isStreaming)}</span>}
      </button>
      {isOpen && <div className="whitespace-pre-wrap border-think-soft border-l-2 pl-3">{text}</div>}
    </div>
  );
}

/** What is being thought just now, or how it began. */
function lastLine(text: string, isStreaming: boolean): string {
  const lines = (isStreaming ? text.slice(-2_000) : text.slice(0, 2_000))
    .split('\n')
    .filter((line) => line.trim());
  return (isStreaming ? lines.at(-1) : lines[0]) ?? '';
}

interface UserProps {
  row: Row;
  text: string;
  origin: 'user' | 'agent';
  label?: string;
}

/** Something that was said to the model. */
export function UserBody({ row, text, origin, label }: UserProps) {
  const [isOpen, setOpen] = useOpen(`${row.key} open`, false);
  const isLong = text.length > LONG || text.split('\n', 9).length > 8;
  const shown = isLong && !isOpen ? `${text.split('\n', 6).join('\n').slice(0, LONG)} …` : text;
  return (
    <div className="rounded-lg border border-line bg-raised px-3 py-1.5">
      <p className="text-2xs text-muted">
        {label ?? (origin === 'user' ? 'You' : 'The agent, on your behalf')}
      </p>
      <div className="whitespace-pre-wrap">{shown}</div>
      {isLong && (
        <button type="button" className="text-accent text-xs underline" onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Show less' : 'Show all'}
        </button>
      )}
    </div>
  );
}
