import { useId } from 'react';
import type { Question } from '../../wire';
import { type Choice, toggle } from './derive-answer';

interface Props {
  question: Question;
  pick: Choice;
  isMissing: boolean;
  isBusy: boolean;
  onPick: (pick: Choice) => void;
}

/** One question: what can be chosen, and a text of one's own. */
export function QuestionField({ question, pick, isMissing, isBusy, onPick }: Props) {
  const name = useId();
  const options = question.options ?? [];
  const type = question.is_multiple ? 'checkbox' : 'radio';
  const hasOther = pick.other !== null;
  const chooseOther = (isChosen: boolean) => {
    const labels = question.is_multiple ? pick.labels : [];
    onPick({ labels, other: isChosen ? (pick.other ?? '') : null });
  };
  return (
    <fieldset disabled={isBusy} aria-describedby={isMissing ? `${name}-missing` : undefined}>
      <legend className="mb-1 font-medium">
        {question.header && <span className="chip mr-2">{question.header}</span>}
        {question.text}
        {question.is_multiple && <span className="ml-2 text-muted text-xs">choose any number</span>}
      </legend>
      {options.map(({ label, description }) => (
        <label key={label} className="flex items-start gap-2 rounded px-1 py-0.5 hover:bg-hover">
          <input
            type={type}
            className="mt-1"
            name={name}
            checked={pick.labels.includes(label)}
            onChange={() => onPick(toggle(question, pick, label))}
          />
          <span className="min-w-0 break-words">
            {label}
            {description && <span className="block text-muted text-xs">{description}</span>}
          </span>
        </label>
      ))}
      {options.length > 0 && (
        <label className="flex items-center gap-2 rounded px-1 py-0.5 hover:bg-hover">
          <input
            type={type}
            name={name}
            checked={hasOther}
            onChange={(event) => chooseOther(event.target.checked)}
          />
          Something else
        </label>
      )}
      {hasOther && (
        <textarea
          className="field steer-input mt-1 w-full"
          rows={1}
          aria-label={`Your answer to: ${question.text}`}
          value={pick.other ?? ''}
          onChange={(event) => onPick({ ...pick, other: event.target.value })}
        />
      )}
      {isMissing && (
        <p id={`${name}-missing`} role="alert" className="text-bad text-xs">
          This question has no answer yet.
        </p>
      )}
    </fieldset>
  );
}
