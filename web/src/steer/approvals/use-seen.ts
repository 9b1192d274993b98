import { useCallback, useRef, useState } from 'react';

/**
 * Whether the end of something has been on the screen: `mark` goes to an element behind it. A box that scrolls hides
 * what is below its edge, and nobody allows what was not shown. Begins again when `shown` changes.
 */
export function useSeen(shown: string): { isSeen: boolean; mark: (element: Element | null) => void } {
  const [seen, setSeen] = useState<string | null>(null);
  const observer = useRef<IntersectionObserver | null>(null);
  const mark = useCallback(
    (element: Element | null) => {
      observer.current?.disconnect();
      observer.current = null;
      if (!element) return;
      observer.current = new IntersectionObserver((entries) => {
        if (entries.some((each) => each.isIntersecting)) setSeen(shown);
      });
      observer.current.observe(element);
    },
    [shown],
  );
  return { isSeen: seen === shown, mark };
}
