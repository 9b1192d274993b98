import { useEffect } from 'react';

let title = 'ralph';
let waiting = 0;

function apply(): void {
  document.title = waiting > 0 ? `(${waiting}) ${title}` : title;
}

/** What the browser's tab says; a number in front of it is how many wait for a person. */
export function useTitle(next: string): void {
  useEffect(() => {
    title = next;
    apply();
    return () => {
      title = 'ralph';
      apply();
    };
  }, [next]);
}

export function useTitleBadge(count: number): void {
  useEffect(() => {
    waiting = count;
    apply();
  }, [count]);
}
