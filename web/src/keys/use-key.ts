import { useEffect, useRef } from 'react';
import { type KeyName, matchKey, nameOfKey } from './keys';

const handlers = new Map<KeyName, () => void>();
let before: { key: string; at: number } | null = null;
/** Two keys belong together within this time. */
const PAIR_MS = 1_000;

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

function listen(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return;
  const key = nameOfKey(event);
  const isPlain = !event.ctrlKey && !event.metaKey;
  if (isPlain && (isTyping(event.target) || document.querySelector('dialog[open]'))) return;
  const recent = before && event.timeStamp - before.at < PAIR_MS ? before.key : null;
  before = { key, at: event.timeStamp };
  const name = matchKey(recent, key, [...handlers.keys()]);
  if (!name) return;
  event.preventDefault();
  before = null;
  handlers.get(name)?.();
}

/** Does something when a key of the table is pressed, as long as the component is there. */
export function useKey(name: KeyName, does: () => void): void {
  const latest = useRef(does);
  useEffect(() => {
    latest.current = does;
  });
  useEffect(() => {
    const handler = () => latest.current();
    handlers.set(name, handler);
    if (handlers.size === 1) addEventListener('keydown', listen);
    return () => {
      if (handlers.get(name) === handler) handlers.delete(name);
      if (handlers.size === 0) removeEventListener('keydown', listen);
    };
  }, [name]);
}
