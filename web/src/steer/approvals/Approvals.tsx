import { X } from 'lucide-react';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useKey } from '../../keys/use-key';
import type { Row } from '../../run/row';
import type { Approval, RunSummary } from '../../wire';
import { useArmed } from '../arming';
import { ApprovalCard, Unloaded } from './ApprovalCard';
import { askOf, closedElsewhere, closedWords } from './derive-closed';
import { askKey, forgetTyped } from './typed';
import { isOnItsWay } from './use-answer';
import { usePending } from './use-pending';

interface Props {
  id: string;
  run: RunSummary | undefined;
  /** The activity, which says who answered. */
  rows: readonly Row[];
}

/** Everything in a run that waits for a person, the oldest first. */
export function Approvals({ id, run, rows }: Props) {
  const { approvals: pending, problem, reload } = usePending(id);
  const [late, setLate] = useState<ReadonlySet<string>>(new Set());
  const answered = useRef(new Set<string>());
  const before = useRef<Approval[]>([]);
  const [news, setNews] = useState<string[]>([]);
  const list = useRef<HTMLElement>(null);
  useKey('answer', () => list.current?.querySelector<HTMLElement>('article')?.focus());
  const latestRows = useRef(rows);
  latestRows.current = rows;
  useEffect(() => {
    for (const gone of closedElsewhere(before.current, pending, new Set())) forgetTyped(askKey(gone));
    const closed = closedElsewhere(before.current, pending, answered.current).filter(
      // What becomes of an answer of ours its receipt tells.
      (each) => !isOnItsWay(each.run, each.request),
    );
    before.current = pending;
    if (closed.length > 0) {
      const words = closed.map((each) => closedWords(each, latestRows.current));
      setNews((now) => [...now, ...words].slice(-3));
    }
  }, [pending]);
  const onLate = useCallback((ask: string, words: string) => {
    setLate((now) => new Set(now).add(ask));
    setNews((now) => [...now, words].slice(-3));
  }, []);
  const open = pending.filter((each) => !late.has(askOf(each)));
  // What comes or goes moves the others: a click that was meant for one must not answer the next.
  const isArmed = useArmed(open.map(askOf).join(' '));
  const hasEnded = run?.activity.state === 'ended';
  return (
    <>
      <div role="status" className="contents">
        {(hasEnded ? [] : news).map((words, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: they have no names, and the last ones are kept.
          <p key={index} className="flex items-center gap-2 rounded bg-sunken px-2 py-1 text-muted text-xs">
            <span className="min-w-0 flex-1 break-words">{words}</span>
            <button
              type="button"
              aria-label="Close this note"
              onClick={() => setNews((now) => now.filter((_, each) => each !== index))}
            >
              <X aria-hidden className="size-3.5" />
            </button>
          </p>
        ))}
      </div>
      {problem && !hasEnded && open.every((each) => each.data !== null) && (
        <Unloaded onReload={reload}>More may wait than is shown here. {problem}</Unloaded>
      )}
      {open.length > 0 && !hasEnded && (
        <section
          ref={list}
          aria-label="Waiting for you"
          className="grid max-h-[min(30rem,45dvh)] grid-cols-[minmax(0,1fr)] gap-2 overflow-y-auto"
        >
          {open.length > 1 && <p className="text-warn text-xs">{open.length} requests, the oldest first</p>}
          {open.map((approval) => (
            <ApprovalCard
              key={askOf(approval)}
              approval={approval}
              isArmed={isArmed}
              unloaded={problem}
              onReload={reload}
              onAnswered={() => {
                answered.current.add(askOf(approval));
                forgetTyped(askKey(approval));
              }}
              onLate={(words) => onLate(askOf(approval), words)}
            />
          ))}
        </section>
      )}
    </>
  );
}
