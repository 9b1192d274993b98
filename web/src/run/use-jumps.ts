import { type RefObject, useCallback, useEffect, useRef, useState } from 'react';
import { fetchChanges, fetchFailures } from '../api/changes';
import { messageOf } from '../api/error';
import { fetchRecords } from '../api/records';
import { useKey } from '../keys/use-key';

export type JumpKind = 'errors' | 'edits' | 'questions';

/** A part of the records that are looked for, in order. */
export interface Part {
  items: { seq: number }[];
  next_after: number | null;
  next_before: number | null;
}

interface PartQuery {
  after?: number;
  before?: number;
  limit: number;
}

/** What is jumped to. The server looks, so that all of the run is covered and not only what the page holds. */
const JUMPS: Record<JumpKind, (run: string, query: PartQuery, signal: AbortSignal) => Promise<Part>> = {
  errors: fetchFailures,
  edits: async (run, query, signal) => {
    const page = await fetchChanges(run, { reported: true, ...query }, signal);
    return { ...page, items: page.items.map(({ seq }) => ({ seq: seq ?? 0 })) };
  },
  questions: async (run, query, signal) => {
    const kinds = 'permission_requested,question_asked,plan_proposed';
    const page = await fetchRecords(run, { kinds, ...query }, signal);
    return { ...page, items: page.records };
  },
};

const NOTHING = { message: null, lookFurther: null };
/** The server searches a part of a long journal at once. After so many parts a jump ends, and can be continued. */
const MOST_PARTS = 40;
/** Shorter waits are not told of. */
const SOON_MS = 300;

/** What came of looking for a record: where it is, that there is none, or up to where none was seen. */
export type Nearest = { is: 'found' | 'unknown'; seq: number } | { is: 'none' };

/** The nearest record after or before another. */
export async function findNearest(
  fetch: (query: PartQuery) => Promise<Part>,
  at: number,
  isForward: boolean,
): Promise<Nearest> {
  let from = at;
  for (let part = 0; part < MOST_PARTS; part += 1) {
    const found = await fetch({ limit: 1, ...(isForward ? { after: from } : { before: from }) });
    const hit = isForward ? found.items[0] : found.items.at(-1);
    if (hit) return { is: 'found', seq: hit.seq };
    const next = isForward ? found.next_after : found.next_before;
    if (next === null) return { is: 'none' };
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
        const fetch = (query: PartQuery) => JUMPS[kind](run, query, end.signal);
        const nearest = await findNearest(fetch, from, isForward);
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
