import { useRef } from 'react';

/** Something that is proposed, and whether it is known by now. */
export interface Proposed<T> {
  value: T;
  isReady: boolean;
}

/**
 * What is proposed for something (`what`). From the moment somebody types it stays as it is, so that news from the
 * server changes nothing under their hands; what was not known by then stays as it comes first.
 */
export class Pin<T> {
  private kept: { what: string; value: T } | null = null;

  look(what: string, now: Proposed<T>, isTyping: boolean): Proposed<T> {
    if (!isTyping) this.kept = null;
    else if (now.isReady && this.kept?.what !== what) this.kept = { what, value: now.value };
    return this.kept?.what === what ? { value: this.kept.value, isReady: true } : now;
  }
}

export function usePin<T>(what: string, now: Proposed<T>, isTyping: boolean): Proposed<T> {
  const pin = useRef<Pin<T>>(null);
  pin.current ??= new Pin();
  return pin.current.look(what, now, isTyping);
}
