import { useState } from 'react';
import type { QuestionAsked } from '../../wire';
import type { FormProps } from './ApprovalCard';
import { DenyForm } from './DenyForm';
import { answersTo, type Choice, NO_CHOICE } from './derive-answer';
import { QuestionField } from './QuestionField';
import { useTyped } from './typed';

/** The agent's questions, answered together. */
export function QuestionForm({
  ask,
  asked,
  answer,
  isBusy,
  canAnswer,
}: FormProps & { asked: QuestionAsked }) {
  const { questions } = asked;
  const [picks, setPicks] = useTyped<Choice[]>(ask, 'picks', () =>
    // Where nothing can be chosen, only a text is an answer.
    questions.map(({ options }) => (options && options.length > 0 ? NO_CHOICE : { labels: [], other: '' })),
  );
  const [missing, setMissing] = useState<number[]>([]);
  const [denies, setDenies] = useTyped(ask, 'part', () => false);
  const submit = () => {
    if (!canAnswer) return;
    const result = answersTo(questions, picks);
    if ('missing' in result) setMissing(result.missing);
    else answer(result.answer);
  };
  return (
    <>
      <form
        className="grid gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        {questions.map((question, index) => (
          <QuestionField
            // biome-ignore lint/suspicious/noArrayIndexKey: two questions may have the same words, and none comes or goes.
            key={index}
            question={question}
            pick={picks[index] ?? NO_CHOICE}
            isMissing={missing.includes(index)}
            isBusy={isBusy}
            onPick={(pick) => {
              setPicks(picks.map((each, at) => (at === index ? pick : each)));
              setMissing(missing.filter((each) => each !== index));
            }}
          />
        ))}
        {!denies && (
          <div className="flex flex-wrap gap-2">
            <button type="submit" className="button" data-primary disabled={!canAnswer}>
              {questions.length > 1 ? 'Send answers' : 'Send answer'}
            </button>
            <button type="button" className="button" disabled={isBusy} onClick={() => setDenies(true)}>
              Decline…
            </button>
          </div>
        )}
      </form>
      {denies && (
        <DenyForm
          ask={ask}
          answer={answer}
          isBusy={isBusy}
          canAnswer={canAnswer}
          label="What the agent is told instead"
          otherwise="The user does not want to answer this."
          action="Decline"
          onCancel={() => setDenies(false)}
        />
      )}
    </>
  );
}
