import { useEffect, useRef, useState } from 'react';

/** Between two texts that are laid out, in milliseconds. */
const LEAST_WAIT = 60;
const LONGEST_WAIT = 1_000;

/**
 * A text that changes often, told at most so often that laying it out takes a small part of the time. A text that no
 * longer changes is told at once.
 */
export function useThrottled(latest: string, isStreaming: boolean): string {
  const [told, setTold] = useState(latest);
  const wait = useRef({ timer: 0 as ReturnType<typeof setTimeout> | 0, latest, at: 0, length: LEAST_WAIT });
  wait.current.latest = latest;
  useEffect(() => {
    const state = wait.current;
    if (!isStreaming || state.timer !== 0 || told === latest) return;
    state.timer = setTimeout(() => {
      state.timer = 0;
      state.at = performance.now();
      setTold(state.latest);
    }, state.length);
  }, [latest, told, isStreaming]);
  useEffect(() => {
    const state = wait.current;
    if (state.at === 0) return;
    const took = performance.now() - state.at;
    state.at = 0;
    state.length = Math.min(LONGEST_WAIT, Math.max(LEAST_WAIT, took * 8));
  });
  useEffect(() => {
    const state = wait.current;
    return () => {
      if (state.timer !== 0) clearTimeout(state.timer);
      state.timer = 0;
    };
  }, []);
  return isStreaming ? told : latest;
}
