import { Hand } from 'lucide-react';
import type { ReactNode } from 'react';
import { formatTime } from '../../layout/format';
import type { Approval } from '../../wire';
import { DenyForm } from './DenyForm';
import { askedOf, askedWords } from './derive-answer';
import { PermissionForm } from './PermissionForm';
import { PlanForm } from './PlanForm';
import { QuestionForm } from './QuestionForm';
import { type Answering, useAnswer } from './use-answer';

interface Props {
  approval: Approval;
  onAnswered: () => void;
  onLate: (words: string) => void;
}

/** What each kind of request gets. */
export interface FormProps {
  answer: Answering['answer'];
  /** An answer is on its way. */
  isBusy: boolean;
}

/** One request of the agent, and how it can be answered. */
export function ApprovalCard({ approval, onAnswered, onLate }: Props) {
  const { state, problem, answer } = useAnswer(approval.run, approval.request, onAnswered, onLate);
  const asked = askedOf(approval);
  const isBusy = state !== 'open';
  const name = `${TITLES[approval.kind] ?? 'Asks'}: ${askedWords(asked)}`;
  return (
    <article
      aria-label={name}
      aria-busy={isBusy}
      // A key brings people here, not to a button: nothing is allowed by one key too many.
      tabIndex={-1}
      className="rounded-lg border border-warn bg-bg px-3 py-2"
      data-request={approval.request}
    >
      <header className="mb-1 flex items-center gap-2 text-warn text-xs">
        <Hand aria-hidden className="size-3.5" />
        <span className="font-medium">{TITLES[approval.kind] ?? 'Asks'}</span>
        <span className="flex-1" />
        <time dateTime={approval.asked_at}>{formatTime(approval.asked_at)}</time>
      </header>
      {asked?.kind === 'permission' && <PermissionForm asked={asked.data} answer={answer} isBusy={isBusy} />}
      {asked?.kind === 'question' && <QuestionForm asked={asked.data} answer={answer} isBusy={isBusy} />}
      {asked?.kind === 'plan' && <PlanForm asked={asked.data} answer={answer} isBusy={isBusy} />}
      {!asked && <Unreadable answer={answer} isBusy={isBusy} isLoading={approval.data === null} />}
      <Told state={state} problem={problem} />
    </article>
  );
}

const TITLES: Record<string, string> = {
  permission: 'Asks for permission',
  question: 'Asks a question',
  plan: 'Has a plan',
};

function Unreadable({ answer, isBusy, isLoading }: FormProps & { isLoading: boolean }) {
  if (isLoading) return <p className="text-muted">Loading what is asked…</p>;
  return (
    <>
      <p>This page does not understand what is asked. Answer it in a terminal, or deny it here.</p>
      <DenyForm answer={answer} isBusy={isBusy} label="Deny" otherwise="Denied." onCancel={null} />
    </>
  );
}

function Told({ state, problem }: Pick<Answering, 'state' | 'problem'>): ReactNode {
  if (problem) {
    return (
      <p role="alert" className="mt-1 text-bad text-xs">
        {problem}
      </p>
    );
  }
  return (
    <p role="status" className="text-muted text-xs">
      {state === 'sending' && 'Sending the answer…'}
      {state === 'taken' && 'Answered. The agent goes on in a moment.'}
    </p>
  );
}
