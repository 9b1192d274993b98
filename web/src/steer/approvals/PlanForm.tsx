import { Markdown } from '../../run/rows/lazy-parts';
import type { PlanProposed } from '../../wire';
import type { FormProps } from './ApprovalCard';
import { DenyForm } from './DenyForm';
import { useTyped } from './typed';

/** Is this plan good? */
export function PlanForm({ ask, asked, answer, isBusy }: FormProps & { asked: PlanProposed }) {
  const [isBack, setBack] = useTyped(ask, 'part', () => false);
  return (
    <>
      <figure
        tabIndex={0}
        aria-label="Plan"
        className="max-h-[40dvh] overflow-auto rounded border border-line bg-raised px-3 py-1"
      >
        <Markdown text={asked.plan} isStreaming={false} />
      </figure>
      {isBack ? (
        <DenyForm
          ask={ask}
          answer={answer}
          isBusy={isBusy}
          label="What should be different? The agent is told."
          otherwise="The user wants another plan."
          action="Send back"
          onCancel={() => setBack(false)}
        />
      ) : (
        <div className="mt-2 flex flex-wrap gap-2">
          <button
            type="button"
            className="button"
            data-primary
            disabled={isBusy}
            onClick={() => answer({ kind: 'allow' })}
          >
            Approve the plan
          </button>
          <button type="button" className="button" disabled={isBusy} onClick={() => setBack(true)}>
            Send back…
          </button>
        </div>
      )}
    </>
  );
}
