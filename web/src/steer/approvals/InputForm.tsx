import { useId, useMemo } from 'react';
import type { FormProps } from './ApprovalCard';
import { parseInput } from './derive-answer';
import { visibleJson } from './derive-visible';
import { useTyped } from './typed';

interface Props extends FormProps {
  input: unknown;
  onCancel: () => void;
}

/** The arguments of a tool, to be changed before it runs. */
export function InputForm({ ask, input, answer, isBusy, canAnswer, onCancel }: Props) {
  const original = useMemo(() => visibleJson(input), [input]);
  const [text, setText] = useTyped(ask, 'input', () => original);
  const help = useId();
  const parsed = parseInput(text);
  const problem = 'problem' in parsed ? parsed.problem : null;
  return (
    <form
      className="mt-2 grid gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (canAnswer && 'input' in parsed) answer({ kind: 'allow_changed', input: parsed.input });
      }}
    >
      <label className="grid gap-1 text-xs">
        Input of the tool, as JSON
        <textarea
          // biome-ignore lint/a11y/noAutofocus: somebody has just asked for it.
          autoFocus
          className="field min-h-24 font-mono"
          rows={Math.min(12, text.split('\n').length + 1)}
          spellCheck={false}
          value={text}
          disabled={isBusy}
          aria-invalid={problem !== null}
          aria-describedby={help}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') onCancel();
          }}
        />
      </label>
      <p id={help} role="status" className="min-h-5 break-words text-bad text-xs">
        {problem}
      </p>
      <div className="flex flex-wrap gap-2">
        <button type="submit" className="button" data-primary disabled={!canAnswer || problem !== null}>
          Allow with this input
        </button>
        <button type="button" className="button" data-quiet onClick={onCancel}>
          Cancel
        </button>
        {text !== original && (
          <button
            type="button"
            className="button"
            data-quiet
            disabled={isBusy}
            onClick={() => setText(original)}
          >
            Undo changes
          </button>
        )}
      </div>
    </form>
  );
}
