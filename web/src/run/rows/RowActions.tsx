import { Braces, Copy, Link as LinkIcon } from 'lucide-react';
import { useState } from 'react';
import { formatTime } from '../../layout/format';
import { markdownOf } from '../copy/derive-markdown';
import type { Row } from '../row';

interface Props {
  row: Row;
  run: string;
  isRaw: boolean;
  onRaw: () => void;
}

/** What can be done with a row. Shown when somebody is at it. */
export function RowActions({ row, run, isRaw, onRaw }: Props) {
  const [done, setDone] = useState<string | null>(null);
  const copy = async (text: string, words: string) => {
    try {
      await navigator.clipboard.writeText(text);
      setDone(words);
    } catch {
      setDone('The browser does not let this page copy');
    }
    setTimeout(() => setDone(null), 2_000);
  };
  // What was asked shows when it was answered.
  const at = (row.body.kind === 'ask' && row.body.closedAt) || row.at;
  const link = `${location.origin}/runs/${encodeURIComponent(run)}?seq=${row.linkSeq}`;
  return (
    <div className="row-actions absolute top-1 right-2 flex items-center rounded-md border border-line bg-bg text-muted text-xs">
      <time className="px-1.5 text-2xs text-faint tabular-nums whitespace-nowrap" dateTime={at}>
        {formatTime(at)}
      </time>
      <Action label="Copy as Markdown" onClick={() => void copy(markdownOf(row), 'Copied')}>
        <Copy aria-hidden className="size-3.5" />
      </Action>
      <Action label="Copy a link to this" onClick={() => void copy(link, 'Link copied')}>
        <LinkIcon aria-hidden className="size-3.5" />
      </Action>
      <Action label="Raw output" isPressed={isRaw} onClick={onRaw}>
        <Braces aria-hidden className="size-3.5" />
      </Action>
      {done && (
        <span role="status" className="px-1.5 text-2xs">
          {done}
        </span>
      )}
    </div>
  );
}

interface ActionProps {
  label: string;
  isPressed?: boolean;
  onClick: () => void;
  children: React.ReactNode;
}

function Action({ label, isPressed, onClick, children }: ActionProps) {
  return (
    <button
      type="button"
      className="rounded p-1 hover:bg-hover aria-pressed:bg-accent-soft aria-pressed:text-accent"
      title={label}
      aria-label={label}
      aria-pressed={isPressed}
      onClick={onClick}
    >
      {children}
    </button>
  );
}
