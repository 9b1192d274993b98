import { Hand } from 'lucide-react';
import type { KeyboardEvent, ReactNode } from 'react';
import { formatTime } from '../../layout/format';
import type { Approval } from '../../wire';
import { DenyForm } from './DenyForm';
import { askedOf, askedWords } from './derive-answer';
import { PermissionForm } from './PermissionForm';
import { PlanForm } from './PlanForm';
import { QuestionForm } from './QuestionForm';
import { askKey } from './typed';
import { type Answering, useAnswer } from './use-answer';

interface Props {
  approval: Approval;
  /** Whether it has been shown long enough to be answered. */
  isArmed: boolean;
  /** Why what is asked could not be loaded. */
  unloaded: string | null;
  onReload: () => void;
  onAnswered: () => void;
  onLate: (words: string) => void;
}

/** What each kind of request gets. */
export interface FormProps {
  /** The asking; what is typed is kept by it. */
  ask: string;
  answer: Answering['answer'];
  /** An answer is on its way. */
  isBusy: boolean;
  /** Whether an answer can be given now. What is being typed can go on meanwhile. */
  canAnswer: boolean;
}

/** One request of the agent, and how it can be answered. */
export function ApprovalCard({ approval, isArmed, unloaded, onReload, onAnswered, onLate }: Props) {
  const { state, problem, answer } = useAnswer(approval.run, approval.request, onAnswered, onLate);
  const asked = askedOf(approval);
  const isBusy = state !== 'open';
  const form = { ask: askKey(approval), answer, isBusy, canAnswer: isArmed && !isBusy };
  const title = TITLES[approval.kind] ?? 'Request';
  const name = `${title}: ${askedWords(asked)}`;
  return (
    <article
      aria-label={name}
      aria-busy={form.isBusy}
      // A key brings people here, not to a button: nothing is allowed by one key too many.
      tabIndex={-1}
      onKeyDown={chooseByNumber}
      className="rounded-lg border border-warn bg-bg px-3 py-2"
      data-request={approval.request}
    >
      <header className="mb-1 flex items-center gap-2 text-warn text-xs">
        <Hand aria-hidden className="size-3.5" />
        <span className="font-medium">{title}</span>
        <span className="flex-1" />
        <time dateTime={approval.asked_at}>{formatTime(approval.asked_at)}</time>
      </header>
      {asked?.kind === 'permission' && <PermissionForm asked={asked.data} {...form} />}
      {asked?.kind === 'question' && <QuestionForm asked={asked.data} {...form} />}
      {asked?.kind === 'plan' && <PlanForm asked={asked.data} {...form} />}
      {!asked && approval.data !== null && <Unreadable {...form} />}
      {!asked && approval.data === null && <Loading problem={unloaded} onReload={onReload} />}
      <Told state={state} problem={problem} />
    </article>
  );
}

const TITLES: Record<string, string> = {
  permission: 'Permission',
  question: 'Question',
  plan: 'Plan',
};

/** 1 to 9 press the choices of the card that has the focus, in their order. */
function chooseByNumber(event: KeyboardEvent<HTMLElement>): void {
  if (event.ctrlKey || event.metaKey || event.altKey || !/^[1-9]$/.test(event.key)) return;
  if (event.target instanceof Element && event.target.closest('input, textarea, select')) return;
  const choices = event.currentTarget.querySelectorAll<HTMLButtonElement>('button[data-choice]');
  const chosen = choices[Number(event.key) - 1];
  if (!chosen || chosen.disabled) return;
  event.preventDefault();
  chosen.click();
}

function Loading({ problem, onReload }: { problem: string | null; onReload: () => void }) {
  if (!problem) return <p className="text-muted">Loading what is asked…</p>;
  return <Unloaded onReload={onReload}>What is asked could not be loaded. {problem}</Unloaded>;
}

/** Something could not be loaded, and can be tried again. */
export function Unloaded({ children, onReload }: { children: ReactNode; onReload: () => void }) {
  return (
    <div role="alert" className="flex flex-wrap items-center gap-2 text-xs">
      <span className="min-w-0 break-words text-bad">{children}</span>
      <button type="button" className="button" onClick={onReload}>
        Try again
      </button>
    </div>
  );
}

function Unreadable(form: FormProps) {
  return (
    <>
      <p>This page does not understand what is asked. Answer it in a terminal, or deny it here.</p>
      <DenyForm {...form} label="Deny" otherwise="Denied." onCancel={null} />
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
      {state === 'taken' && 'Answered. The agent continues in a moment.'}
    </p>
  );
}
