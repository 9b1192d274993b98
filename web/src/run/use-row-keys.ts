import type { RefObject } from 'react';
import { useKey } from '../keys/use-key';

/** Goes from row to row, from the one in focus or in the middle of the list. */
export function useRowKeys(scroller: RefObject<HTMLElement | null>): void {
  const step = (by: number) => {
    const rows = [...(scroller.current?.querySelectorAll<HTMLElement>('li[data-index] > .row') ?? [])].sort(
      (a, b) => placeOf(a) - placeOf(b),
    );
    const at = rows.findIndex((row) => row.contains(document.activeElement));
    // The browser brings what is in focus into view, and the list makes more rows there.
    const next = at < 0 ? (middleOf(scroller.current, rows) ?? rows[0]) : rows[at + by];
    next?.focus();
  };
  useKey('next', () => step(1));
  useKey('previous', () => step(-1));
}

function placeOf(row: HTMLElement): number {
  return Number(row.parentElement?.dataset.index);
}

function middleOf(list: HTMLElement | null, rows: readonly HTMLElement[]): HTMLElement | undefined {
  if (!list) return undefined;
  const { top, height } = list.getBoundingClientRect();
  return rows.findLast((row) => row.getBoundingClientRect().top <= top + height / 2);
}
