import { type RefObject, useEffect } from 'react';

const NAME = 'find';
/** More marks than anybody looks at. */
const MOST = 500;

/** Where a text occurs in another, whatever the case. */
export function occurrences(text: string, wanted: string): number[] {
  const found: number[] = [];
  const needle = wanted.toLowerCase();
  if (needle === '') return found;
  const hay = text.toLowerCase();
  // Some letters change their length with their case; then places would be wrong.
  if (hay.length !== text.length) return found;
  for (
    let at = hay.indexOf(needle);
    at >= 0 && found.length < MOST;
    at = hay.indexOf(needle, at + needle.length)
  ) {
    found.push(at);
  }
  return found;
}

function mark(element: HTMLElement, text: string): void {
  const marks = new Highlight();
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node && marks.size < MOST; node = walker.nextNode()) {
    for (const at of occurrences(node.nodeValue ?? '', text)) {
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + text.length);
      marks.add(range);
    }
  }
  CSS.highlights.set(NAME, marks);
}

/** Marks what is looked for in what is there, now and whenever it changes. The browser paints the marks; the page stays
 * as it is. */
export function useHighlights(root: RefObject<HTMLElement | null>, wanted: string | undefined): void {
  const text = wanted?.trim() ?? '';
  useEffect(() => {
    const element = root.current;
    if (!('highlights' in CSS) || text === '' || !element) return;
    let frame = 0;
    const soon = () => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => mark(element, text));
    };
    const observer = new MutationObserver(soon);
    observer.observe(element, { childList: true, characterData: true, subtree: true });
    soon();
    return () => {
      observer.disconnect();
      cancelAnimationFrame(frame);
      CSS.highlights.delete(NAME);
    };
  }, [root, text]);
}
