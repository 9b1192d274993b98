import { type RefObject, useCallback, useEffect, useRef, useState } from 'react';
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

const NOTHING = { message: null, lookFurther: null };
/** How many pages are looked through at once, so that a jump ends; who wants to know looks further. */
const MOST_PAGES = 40;
/** Shorter waits are not told of. */
const SOON_MS = 300;

/** What came of looking for a record: where it is, that there is none, or up to where none was seen. */
export type Nearest = { is: 'found' | 'unknown'; seq: number } | { is: 'none' };

/** The nearest record of a kind after or before another. */
export async function findNearest(
  fetch: (
    query: RecordQuery,
  ) => Promise<{ records: RunRecord[]; next_after: number | null; next_before: number | null }>,
  kind: JumpKind,
  at: number,
  isForward: boolean,
): Promise<Nearest> {
  const { kinds, is } = JUMPS[kind];
  let from = at;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const limit = page === 0 ? 50 : 500;
    const found = await fetch({ kinds, limit, ...(isForward ? { after: from } : { before: from }) });
    const hit = isForward ? found.records.find(is) : found.records.findLast(is);
    if (hit) return { is: 'found', seq: hit.seq };
    const next = isForward ? found.next_after : found.next_before;
    if (next === null || found.records.length === 0) return { is: 'none' };
    from = next;
  }
  return { is: 'unknown', seq: from };
}

export interface Jumps {
  jump: (kind: JumpKind, isForward: boolean) => void;
  /** What came of the last one, for people. */
  message: string | null;
  /** Goes on where the last one has given up. */
  lookFurther: (() => void) | null;
}

/** Jumps to errors, edits and questions, from where the reader is. */
export function useJumps(run: string, reader: RefObject<number>, goTo: (seq: number) => void): Jumps {
  const [told, setTold] = useState<Pick<Jumps, 'message' | 'lookFurther'>>(NOTHING);
  const last = useRef<AbortController>(null);
  useEffect(() => () => last.current?.abort(), []);
  const latestGoTo = useRef(goTo);
  useEffect(() => {
    latestGoTo.current = goTo;
  });
  const jump = useCallback(
    async (kind: JumpKind, isForward: boolean, from = reader.current) => {
      // Who jumps again does not want to be moved by the jump before.
      last.current?.abort();
      const end = new AbortController();
      last.current = end;
      setTold(NOTHING);
      const say = (message: string, lookFurther: (() => void) | null = null) => {
        if (!end.signal.aborted) setTold({ message, lookFurther });
      };
      const soon = setTimeout(() => say('Looking…'), SOON_MS);
      const where = isForward ? 'later' : 'earlier';
      try {
        const fetch = (query: RecordQuery) => fetchRecords(run, query, end.signal);
        const nearest = await findNearest(fetch, kind, from, isForward);
        if (end.signal.aborted) return;
        setTold(NOTHING);
        if (nearest.is === 'found') latestGoTo.current(nearest.seq);
        else if (nearest.is === 'none') say(`No ${where} ${kind}`);
        else say(`No ${where} ${kind} so far.`, () => void jump(kind, isForward, nearest.seq));
      } catch (error) {
        say(messageOf(error));
      } finally {
        clearTimeout(soon);
      }
    },
    [run, reader],
  );
  useKey('nextError', () => void jump('errors', true));
  useKey('previousError', () => void jump('errors', false));
  useKey('nextEdit', () => void jump('edits', true));
  useKey('previousEdit', () => void jump('edits', false));
  useKey('nextAsk', () => void jump('questions', true));
  useKey('previousAsk', () => void jump('questions', false));
  return { jump: (kind, isForward) => void jump(kind, isForward), ...told };
}
