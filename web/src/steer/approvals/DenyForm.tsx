import type { FormProps } from './ApprovalCard';
import { denial } from './derive-answer';
import { useTyped } from './typed';

interface Props extends FormProps {
  /** What the field is called. */
  label: string;
  /** What the agent is told if nothing is written. */
  otherwise: string;
  /** Null if there is nothing to go back to. */
  onCancel: (() => void) | null;
  /** What the button says. */
  action?: string;
}

/** A refusal, and why: the agent is told. */
export function DenyForm({
  ask,
  answer,
  isBusy,
  canAnswer,
  label,
  otherwise,
  onCancel,
  action = 'Deny',
}: Props) {
  const [reason, setReason] = useTyped(ask, 'reason', () => '');
  const [endsTurn, setEndsTurn] = useTyped(ask, 'endsTurn', () => false);
  return (
    <form
      className="mt-2 grid gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (canAnswer) answer(denial(reason, endsTurn, otherwise));
      }}
    >
      <label className="grid gap-1 text-xs">
        {label}
        <textarea
          // biome-ignore lint/a11y/noAutofocus: somebody has just asked for it.
          autoFocus={onCancel !== null}
          className="field steer-input"
          rows={1}
          value={reason}
          disabled={isBusy}
          onChange={(event) => setReason(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') onCancel?.();
          }}
        />
      </label>
      <div className="flex flex-wrap items-center gap-2">
        <button type="submit" className="button" data-danger disabled={!canAnswer}>
          {action}
        </button>
        {onCancel && (
          <button type="button" className="button" data-quiet onClick={onCancel}>
            Cancel
          </button>
        )}
        <label className="flex items-center gap-2 text-xs">
          <input
            type="checkbox"
            checked={endsTurn}
            disabled={isBusy}
            onChange={(event) => setEndsTurn(event.target.checked)}
          />
          and end the turn (this also ends a loop)
        </label>
      </div>
    </form>
  );
}
