import { type RefObject, useEffect } from 'react';
import type { Follow } from './follow';

/** How far from the end counts as there, in pixels. */
const NEAR = 4;

/**
 * The browser may lay rows out later than they were drawn. Until then a list cannot be moved to its new end, and
 * nothing tells afterwards that it falls short of it. So whoever follows is moved when the rows really have their height.
 */
export function useStayAtEnd(
  scroller: RefObject<HTMLElement | null>,
  rows: RefObject<HTMLElement | null>,
  follow: Follow,
) {
  useEffect(() => {
    const [list, content] = [scroller.current, rows.current];
    if (!list || !content) return;
    const observer = new ResizeObserver(() => {
      if (!follow.isOn || list.scrollHeight - list.clientHeight - list.scrollTop <= NEAR) return;
      list.scrollTop = list.scrollHeight;
      follow.puts(list.scrollTop);
    });
    observer.observe(content);
    return () => observer.disconnect();
  }, [scroller, rows, follow]);
}
