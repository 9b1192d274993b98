import type { Virtualizer } from '@tanstack/react-virtual';
import { type RefObject, useEffect } from 'react';

/**
 * The list believes that each of its moves was done. One that the browser cut short, because rows were not laid out
 * yet, would leave it drawing another part than the one that is seen: it is told where it really is.
 */
export function useTrueOffset(
  list: Virtualizer<HTMLElement, Element>,
  scroller: RefObject<HTMLElement | null>,
) {
  useEffect(() => {
    // With the next frame everything is laid out anyway.
    const frame = requestAnimationFrame(() => {
      const element = scroller.current;
      if (element && Math.abs(element.scrollTop - (list.scrollOffset ?? 0)) > 1) {
        element.dispatchEvent(new Event('scroll'));
      }
    });
    return () => cancelAnimationFrame(frame);
  });
}
