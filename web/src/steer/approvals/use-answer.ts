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
      // From now on it is this page that closes the request.
      onAnswered();
      stream.command(run, { command: 'answer', request, answer: choice }).then(
        () => setState('taken'),
        (error: unknown) => {
          if (isLate(error)) {
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
