import { ChevronRight } from 'lucide-react';
import type { ReactNode } from 'react';
import { formatDuration, formatElapsed } from '../layout/format';
import { useNow } from '../layout/use-now';
import { useOpen } from '../run/kept-state';
import { callKey, type ToolCall } from '../run/tool-call';
import { visibleText } from '../steer/approvals/derive-visible';
import type { Card } from './card';
import './cards.css';
import { deriveElapsed } from './derive-elapsed';
import { oneLine } from './read-input';
import { STATES } from './states';

interface CardFrameProps {
  card: Card;
  call: ToolCall;
  /** Buttons beside the heading. */
  rawSlot?: ReactNode;
  children: ReactNode;
}

/** What every card has: what is called, on what, how it went, how long it took; and a body that opens. */
export function CardFrame({ card, call, rawSlot, children }: CardFrameProps) {
  const isBad = call.state === 'failed' || call.state === 'denied';
  const [chosen, choose] = useOpen<boolean | null>(`${callKey(call)} open`, null);
  // What is to be decided about is shown where it is answered.
  const isOpen = chosen ?? (call.state !== 'waiting' && (isBad || (card.isOpen?.(call) ?? false)));
  const title = oneLine(card.title?.(call) ?? call.name, 120) || 'Tool';
  const subject = visibleText(oneLine(card.subject?.(call) ?? call.subject ?? ''));
  const isTold = isOpen && (card.isSubjectInBody?.(call) ?? false);
  return (
    <div className="tool-card" data-state={call.state}>
      <div className="flex items-start">
        <button type="button" className="tool-head" aria-expanded={isOpen} onClick={() => choose(!isOpen)}>
          <ChevronRight aria-hidden className={`size-3.5 shrink-0 text-faint ${isOpen ? 'rotate-90' : ''}`} />
          <card.icon aria-hidden className="size-3.5 shrink-0 text-muted" />
          <span className="max-w-60 shrink-0 truncate font-medium" title={title}>
            {title}
          </span>
          <CardState call={call} />
          {card.note?.(call)}
          {subject !== '' && (
            <span className={isTold ? 'sr-only' : 'tool-subject'} data-prose={card.isProse} title={subject}>
              <bdi>{subject}</bdi>
            </span>
          )}
        </button>
        {rawSlot}
      </div>
      {isOpen && <div className="tool-body">{children}</div>}
    </div>
  );
}

function CardState({ call }: { call: ToolCall }) {
  const isTicking = call.finishedSeq === null && (call.state === 'running' || call.state === 'waiting');
  const elapsed = deriveElapsed(call, useNow(isTicking));
  const { word, icon: Icon, tone } = STATES[call.state] ?? STATES.running;
  const time = elapsed === null ? null : isTicking ? formatElapsed(elapsed) : formatDuration(elapsed);
  return (
    <span className={`flex shrink-0 items-center gap-1 text-2xs ${tone}`}>
      <Icon
        aria-hidden
        className={`size-3.5 ${isTicking && call.state === 'running' ? 'animate-spin' : ''}`}
      />
      {word}
      {time !== null && <span className="text-faint tabular-nums">{time}</span>}
    </span>
  );
}
