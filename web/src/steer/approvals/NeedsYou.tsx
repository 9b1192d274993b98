import { Link } from '@tanstack/react-router';
import { Hand } from 'lucide-react';
import { useCallback, useRef, useState } from 'react';
import { useKey } from '../../keys/use-key';
import { shortPath } from '../../layout/format';
import { useInbox, useLiveRuns } from '../../stream/browser';
import type { Approval } from '../../wire';
import { useArmed } from '../arming';
import { askedOf, askedWords, isSimple } from './derive-answer';
import { oldestFirst } from './derive-pending';
import { visibleText } from './derive-visible';
import { useAnswer } from './use-answer';

/** How many are shown; the others are found through their runs. */
const MOST = 10;

const ASKS: Record<string, string> = {
  permission: 'Permission',
  question: 'Question',
  plan: 'Plan',
};

/** What waits for a person in all runs, at the top of the list of them. */
export function NeedsYou() {
  const { approvals, count } = useInbox();
  const [late, setLate] = useState<string | null>(null);
  const runs = useLiveRuns();
  const list = useRef<HTMLElement>(null);
  useKey('answer', () => list.current?.querySelector<HTMLElement>('li')?.focus());
  const shown = oldestFirst(approvals).slice(0, MOST);
  // What comes or goes moves the others: a click that was meant for one must not answer the next.
  const isArmed = useArmed(shown.map((each) => `${each.run} ${each.request} ${each.seq}`).join(' '));
  if (count === 0 && !late) return null;
  return (
    <section ref={list} aria-labelledby="needs-you" className="mb-4">
      {count > 0 && (
        <h2 id="needs-you" className="mb-1 flex items-center gap-2 font-semibold text-warn">
          <Hand aria-hidden className="size-4" />
          Needs you
        </h2>
      )}
      <p role="status" className="text-muted text-xs">
        {late}
      </p>
      {count > 0 && (
        <ul className="divide-y divide-line rounded-lg border border-warn">
          {shown.map((approval) => (
            <Need
              key={`${approval.run} ${approval.request}`}
              approval={approval}
              isArmed={isArmed}
              title={runs.get(approval.run)?.title || approval.run}
              workspace={runs.get(approval.run)?.workspace ?? ''}
              onLate={setLate}
            />
          ))}
        </ul>
      )}
      {count > MOST && (
        <p className="mt-1 text-muted text-xs">and {count - Math.min(MOST, approvals.length)} more</p>
      )}
    </section>
  );
}

interface NeedProps {
  approval: Approval;
  isArmed: boolean;
  title: string;
  workspace: string;
  onLate: (words: string) => void;
}

function Need({ approval, isArmed, title, workspace, onLate }: NeedProps) {
  const ignore = useCallback(() => {}, []);
  const { state, problem, answer } = useAnswer(approval.run, approval.request, ignore, onLate);
  const asked = askedOf(approval);
  const words = askedWords(asked);
  const isPlain = isSimple(asked);
  const isBusy = state !== 'open';
  if (state === 'late') return null;
  return (
    <li
      className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2"
      aria-busy={isBusy}
      aria-label={words}
      tabIndex={-1}
    >
      <span className="min-w-0 flex-1 basis-60">
        {/* What can be allowed here is shown as a whole, with each of its blanks. */}
        <span className={isPlain ? 'whitespace-pre-wrap break-words' : 'line-clamp-2 break-words'}>
          <span className="text-warn">{ASKS[approval.kind] ?? 'Request'}:</span>{' '}
          <span className={asked?.kind === 'permission' ? 'font-mono text-xs' : ''}>
            {visibleText(words)}
          </span>
        </span>
        <span className="block truncate text-muted text-xs">
          {title}
          {workspace && ` · ${shortPath(workspace)}`}
        </span>
        {problem && (
          <span role="alert" className="block text-bad text-xs">
            {problem}
          </span>
        )}
      </span>
      <span className="flex flex-wrap gap-1">
        {isPlain && (
          <>
            <button
              type="button"
              className="button"
              disabled={isBusy || !isArmed}
              aria-label={`Allow once: ${words}`}
              onClick={() => answer({ kind: 'allow' })}
            >
              {isBusy ? 'Answering…' : 'Allow once'}
            </button>
            <button
              type="button"
              className="button"
              disabled={isBusy || !isArmed}
              aria-label={`Deny: ${words}`}
              onClick={() => answer({ kind: 'deny', reason: 'The user does not allow this.' })}
            >
              Deny
            </button>
          </>
        )}
        <Link
          to="/runs/$id"
          params={{ id: approval.run }}
          className="button"
          aria-label={isPlain ? `More about: ${words}` : `Answer: ${words}`}
        >
          {isPlain ? 'More…' : 'Answer…'}
        </Link>
      </span>
    </li>
  );
}
