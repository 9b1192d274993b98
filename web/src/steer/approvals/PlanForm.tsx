import { Markdown } from '../../run/rows/lazy-parts';
import type { PlanProposed } from '../../wire';
import type { FormProps } from './ApprovalCard';
import { DenyForm } from './DenyForm';
import { Digit } from './Digit';
import { useTyped } from './typed';
import { useSeen } from './use-seen';

/** Is this plan good? */
export function PlanForm({ ask, asked, answer, isBusy, canAnswer }: FormProps & { asked: PlanProposed }) {
  const [isBack, setBack] = useTyped(ask, 'part', () => false);
  const { isSeen, mark } = useSeen(ask);
  return (
    <>
      <figure
        tabIndex={0}
        aria-label="Plan"
        className="max-h-[40dvh] overflow-auto rounded border border-line bg-raised px-3 py-1"
      >
        <Markdown text={asked.plan} isStreaming={false} />
        <div ref={mark} aria-hidden className="h-px" data-end />
      </figure>
      {!isSeen && <p className="mt-1 text-muted text-xs">Scroll to the end of the plan to approve it.</p>}
      {isBack ? (
        <DenyForm
          ask={ask}
          answer={answer}
          isBusy={isBusy}
          canAnswer={canAnswer}
          label="What should be different? The agent is told."
          otherwise="The user wants another plan."
          action="Request changes"
          onCancel={() => setBack(false)}
        />
      ) : (
        <div className="mt-2 flex flex-wrap gap-2">
          <button
            type="button"
            className="button"
            data-primary
            data-choice
            disabled={!canAnswer || !isSeen}
            onClick={() => answer({ kind: 'allow' })}
          >
            <Digit>1</Digit>
            Approve the plan
          </button>
          <button
            type="button"
            className="button"
            data-choice
            disabled={!canAnswer}
            onClick={() => setBack(true)}
          >
            <Digit>2</Digit>
            Request changes…
          </button>
        </div>
      )}
    </>
  );
}
