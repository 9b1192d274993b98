import { Check, CheckCheck, CircleDashed, Clock, type LucideIcon, Undo2, X } from 'lucide-react';
import { useId } from 'react';
import { canChange, DELIVERY_WORDS, type DeliveryState, type QueuedMessage } from './derive-queue';
import { redactedIn } from './derive-redacted';
import type { Edit, Outbox } from './outbox';
import { useCommand } from './use-command';

const LOOKS: Record<DeliveryState, { icon: LucideIcon; className: string }> = {
  sending: { icon: CircleDashed, className: 'text-muted' },
  failed: { icon: X, className: 'text-bad' },
  queued: { icon: Clock, className: 'text-warn' },
  sent: { icon: Check, className: 'text-muted' },
  started: { icon: CheckCheck, className: 'text-accent' },
  completed: { icon: CheckCheck, className: 'text-ok' },
  withdrawn: { icon: Undo2, className: 'text-muted' },
  lost: { icon: X, className: 'text-bad' },
};

interface Props {
  run: string;
  message: QueuedMessage;
  outbox: Outbox;
  /** New words for it, while there are some. */
  edit: Edit | undefined;
}

/** One message: what it says, how far it is, and what can still be done about it. */
export function QueueItem({ run, message, outbox, edit }: Props) {
  const { pending, problem, say } = useCommand(run);
  const { icon: Icon, className } = LOOKS[message.state];
  const isOpen = canChange(message);
  const words = `${DELIVERY_WORDS[message.state]}${message.state === 'queued' && message.mode === 'queue' ? ' for after the turn' : ''}`;
  const write = (text: string) => outbox.edit(message.id, { text, isSaving: false });
  const save = async (text: string) => {
    outbox.edit(message.id, { text, isSaving: true });
    const receipt = await say({ command: 'edit_message', message_id: message.id, text });
    if (receipt) outbox.edit(message.id, null);
    else write(text);
  };
  return (
    <li className="px-2 py-1" data-state={message.state}>
      {edit && isOpen ? (
        <EditMessage
          text={edit.text}
          isBusy={edit.isSaving}
          onChange={write}
          onCancel={() => outbox.edit(message.id, null)}
          onSave={(text) => void save(text)}
        />
      ) : (
        <div className="flex items-start gap-2">
          <span className={`flex shrink-0 items-center gap-1 ${className}`}>
            <Icon aria-hidden className="size-3.5" />
            {pending === 'withdraw_message' ? 'Taking back…' : words}
          </span>
          <span className="line-clamp-2 min-w-0 flex-1 break-words" title={message.text}>
            {message.text}
          </span>
          {isOpen && (
            <span className="flex shrink-0 gap-3">
              <button type="button" className="underline" onClick={() => write(message.text)}>
                Edit
              </button>
              <button
                type="button"
                className="underline"
                disabled={pending !== null}
                onClick={() => void say({ command: 'withdraw_message', message_id: message.id })}
              >
                Take back
              </button>
            </span>
          )}
          {message.state === 'failed' && (
            <span className="flex shrink-0 gap-3">
              <button type="button" className="underline" onClick={() => outbox.sendAgain(message.id)}>
                Send again
              </button>
              <button type="button" className="underline" onClick={() => outbox.putBack(message.id)}>
                Edit
              </button>
              <button type="button" className="underline" onClick={() => outbox.discard(message.id)}>
                Discard
              </button>
            </span>
          )}
        </div>
      )}
      {(problem ?? message.problem) && (
        <p role="alert" className="text-bad">
          {problem ?? message.problem}
        </p>
      )}
    </li>
  );
}

interface EditProps {
  text: string;
  isBusy: boolean;
  onChange: (text: string) => void;
  onCancel: () => void;
  onSave: (text: string) => void;
}

function EditMessage({ text, isBusy, onChange, onCancel, onSave }: EditProps) {
  const help = useId();
  // The run would send the agent what stands for it.
  const secret = redactedIn(text);
  const canSave = text.trim() !== '' && !isBusy && !secret;
  const save = () => {
    if (canSave) onSave(text.trim());
  };
  return (
    <div className="flex flex-wrap items-end gap-2">
      <textarea
        // biome-ignore lint/a11y/noAutofocus: the button that was pressed is gone, and this stands in its place.
        autoFocus
        className="field steer-input min-w-0 flex-1 resize-none"
        aria-label="Change the message"
        rows={1}
        value={text}
        readOnly={isBusy}
        aria-invalid={secret !== null}
        aria-describedby={help}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onCancel();
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          save();
        }}
      />
      <button type="button" className="button" disabled={!canSave} onClick={save}>
        Save
      </button>
      <button type="button" className="button" data-quiet onClick={onCancel}>
        Cancel
      </button>
      <p id={help} role="status" className={secret ? 'w-full break-words text-bad' : 'contents'}>
        {secret &&
          `${secret} stands for a secret that is not shown. Write the secret itself, or cancel: the message stays as it is.`}
      </p>
    </div>
  );
}
