import { type RefObject, useCallback, useState } from 'react';
import { messageOf } from '../api/error';
import { fetchRecords, type RecordQuery } from '../api/records';
import { useKey } from '../keys/use-key';
import type { RunRecord } from '../wire';

export type JumpKind = 'errors' | 'edits' | 'questions';

/** What is jumped to. The server looks, so that all of the run is covered and not only what the page holds. */
const JUMPS: Record<JumpKind, { kinds: string; is: (record: RunRecord) => boolean }> = {
  errors: {
    kinds: 'error,tool_finished,verify_finished,attempt_ended',
    is: ({ event }) => {
      if (event.type === 'tool_finished') return event.data.status === 'failed';
      if (event.type === 'verify_finished') return !event.data.is_ok;
      if (event.type === 'attempt_ended') return Boolean(event.data.error);
      return event.type === 'error';
    },
  },
  edits: {
    kinds: 'tool_finished',
    is: ({ event }) => event.type === 'tool_finished' && (event.data.changes?.length ?? 0) > 0,
  },
  questions: {
    kinds: 'permission_requested,question_asked,plan_proposed',
    is: () => true,
  },
};

/** How many pages are looked through at most, so that a jump ends. */
const MOST_PAGES = 40;

/** The nearest record of a kind after or before another; null if there is none. */
export async function findNearest(
  fetch: (
    query: RecordQuery,
  ) => Promise<{ records: RunRecord[]; next_after: number | null; next_before: number | null }>,
  kind: JumpKind,
  at: number,
  isForward: boolean,
): Promise<number | null> {
  const { kinds, is } = JUMPS[kind];
  let from = at;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const limit = page === 0 ? 50 : 500;
    const found = await fetch({ kinds, limit, ...(isForward ? { after: from } : { before: from }) });
    const hit = isForward ? found.records.find(is) : found.records.findLast(is);
    if (hit) return hit.seq;
    const next = isForward ? found.next_after : found.next_before;
    if (next === null || found.records.length === 0) return null;
    from = next;
  }
  return null;
}

export interface Jumps {
  jump: (kind: JumpKind, isForward: boolean) => void;
  /** What came of the last one, for people. */
  message: string | null;
}

/** Jumps to errors, edits and questions, from where the reader is. */
export function useJumps(run: string, reader: RefObject<number>, goTo: (seq: number) => void): Jumps {
  const [message, setMessage] = useState<string | null>(null);
  const jump = useCallback(
    async (kind: JumpKind, isForward: boolean) => {
      setMessage(null);
      try {
        const seq = await findNearest((query) => fetchRecords(run, query), kind, reader.current, isForward);
        if (seq !== null) goTo(seq);
        else setMessage(`No ${isForward ? 'later' : 'earlier'} ${kind}`);
      } catch (error) {
        setMessage(messageOf(error));
      }
    },
    [run, reader, goTo],
  );
  useKey('nextError', () => void jump('errors', true));
  useKey('previousError', () => void jump('errors', false));
  useKey('nextEdit', () => void jump('edits', true));
  useKey('previousEdit', () => void jump('edits', false));
  useKey('nextAsk', () => void jump('questions', true));
  useKey('previousAsk', () => void jump('questions', false));
  return { jump: (kind, isForward) => void jump(kind, isForward), message };
}
