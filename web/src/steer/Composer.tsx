import { SendHorizontal } from 'lucide-react';
import { type KeyboardEvent, useId, useRef } from 'react';
import { useKey } from '../keys/use-key';
import type { SendMode } from '../wire';
import { keyOf } from './derive-key';
import type { Outbox } from './outbox';

interface Props {
  outbox: Outbox;
  /** Whether a turn goes on: otherwise now and later are the same. */
  isBusy: boolean;
}

/** Where a person writes to the agent. */
export function Composer({ outbox, isBusy }: Props) {
  const field = useRef<HTMLTextAreaElement>(null);
  const hint = useId();
  useKey('input', () => field.current?.focus());
  const isEmpty = outbox.draft.trim() === '';
  const send = (mode: SendMode) => {
    outbox.send(isBusy ? mode : 'steer');
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    // Gives the keys of the page back.
    if (event.key === 'Escape') field.current?.blur();
    const isTouch = globalThis.matchMedia?.('(pointer: coarse)').matches ?? false;
    const meant = keyOf(event.nativeEvent, isTouch);
    if (!meant) return;
    event.preventDefault();
    send(meant);
  };
  return (
    <div className="flex items-end gap-2">
      <textarea
        ref={field}
        className="field steer-input min-w-0 flex-1 resize-none py-1.5"
        aria-label="Message to the agent"
        aria-describedby={hint}
        placeholder={isBusy ? 'Message…' : 'What next?'}
        rows={1}
        value={outbox.draft}
        onChange={(event) => outbox.write(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <p id={hint} className="sr-only">
        Enter sends, Shift and Enter begins a line
        {isBusy ? ', Control and Enter sends it after the turn' : ''}.
      </p>
      {isBusy && (
        <button
          type="button"
          className="button h-[2.125rem]"
          disabled={isEmpty}
          title="The agent sees it after its turn (Ctrl+Enter)"
          onClick={() => send('queue')}
        >
          Queue
        </button>
      )}
      <button
        type="button"
        className="button h-[2.125rem]"
        data-primary={isEmpty ? undefined : true}
        disabled={isEmpty}
        title={isBusy ? 'The agent sees it as soon as it can (Enter)' : 'Enter'}
        onClick={() => send('steer')}
      >
        <SendHorizontal aria-hidden className="size-4" />
        {isBusy ? 'Steer' : 'Send'}
      </button>
    </div>
  );
}
