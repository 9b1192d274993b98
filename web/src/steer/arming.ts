import { useEffect, useState } from 'react';

/**
 * How long something must be shown, without a key or a click, before it can be answered: what is being typed or clicked
 * when a request appears must not answer it. The terminal waits as long.
 */
export const ARMING = { quietMs: 425 };

let lastInputAt = Number.NEGATIVE_INFINITY;
let isListening = false;

function listen(): void {
  if (isListening) return;
  isListening = true;
  const note = () => {
    lastInputAt = performance.now();
  };
  for (const type of ['keydown', 'pointerdown'] as const) addEventListener(type, note, { capture: true });
}

/** Whether what is shown can be answered. Begins again when `shown` changes, and while the page cannot be seen. */
export function useArmed(shown: string): boolean {
  const [armed, setArmed] = useState<string | null>(null);
  useEffect(() => {
    listen();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let shownAt = performance.now();
    const look = () => {
      const rest = Math.max(shownAt, lastInputAt) + ARMING.quietMs - performance.now();
      if (rest <= 0) setArmed(shown);
      else timer = setTimeout(look, rest);
    };
    const begin = () => {
      clearTimeout(timer);
      if (document.visibilityState === 'hidden') {
        setArmed(null);
        return;
      }
      shownAt = performance.now();
      look();
    };
    begin();
    document.addEventListener('visibilitychange', begin);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', begin);
    };
  }, [shown]);
  return armed === shown;
}
