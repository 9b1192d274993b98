import { useCallback, useEffect, useState } from 'react';
import { stream } from '../../stream/browser';
import type { AnswerChoice } from '../../wire';
import { isLate, problemWords } from '../derive-problem';

/** The agent may not understand an answer; then it still waits after this time, and another one can be given. */
const PATIENCE_MS = 6_000;

export interface Answering {
  /** `taken`: the run has the answer, and the agent will have it in a moment. */
  state: 'open' | 'sending' | 'taken' | 'late';
  problem: string | null;
  answer: (choice: AnswerChoice) => void;
}

const onItsWay = new Set<string>();

const nameOf = (run: string, request: string) => JSON.stringify([run, request]);

/** Whether this page has given an answer and does not know yet whether it counts. The agent may be faster to go on. */
export function isOnItsWay(run: string, request: string): boolean {
  return onItsWay.has(nameOf(run, request));
}

/** Gives one answer to a request. `onAnswered` is told that it counts, `onLate` that another one did. */
export function useAnswer(
  run: string,
  request: string,
  onAnswered: () => void,
  onLate: (words: string) => void,
): Answering {
  const [state, setState] = useState<Answering['state']>('open');
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    if (state !== 'taken') return;
    const timer = setTimeout(() => {
      setState('open');
      setProblem('The agent still waits. Answer again if it does not go on.');
    }, PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [state]);
  const answer = useCallback(
    (choice: AnswerChoice) => {
      setState('sending');
      setProblem(null);
      onItsWay.add(nameOf(run, request));
      stream
        .command(run, { command: 'answer', request, answer: choice })
        .finally(() => onItsWay.delete(nameOf(run, request)))
        .then(
          () => {
            onAnswered();
            setState('taken');
          },
          (error: unknown) => {
            if (isLate(error)) {
              // It is over either way, and this page says why.
              onAnswered();
              setState('late');
              onLate(problemWords(error));
              return;
            }
            setState('open');
            setProblem(problemWords(error));
          },
        );
    },
    [run, request, onAnswered, onLate],
  );
  return { state, problem, answer };
}
