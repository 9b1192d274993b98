import { useEffect, useRef } from 'react';
import { type KeyName, matchKey, nameOfKey } from './keys';

/** Gives `false` if it does nothing: then who listened before may. */
type Handler = () => unknown;

/** Who listens for a key; the last one is asked first. */
const handlers = new Map<KeyName, Handler[]>();
let before: { key: string; at: number } | null = null;
/** Two keys belong together within this time. */
const PAIR_MS = 1_000;

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

/** Whether a key moves within what is in focus: a box of code has a beginning and an end of its own. */
function isOfBox(key: string, target: EventTarget | null): boolean {
  if (key !== 'Home' && key !== 'End') return false;
  const box = target instanceof HTMLElement ? target.closest('[tabindex="0"]') : null;
  return box !== null && box.id !== 'activity';
}

function listen(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return;
  const key = nameOfKey(event);
  // What is behind a dialog is out of reach for every key.
  if (document.querySelector('dialog[open]')) return;
  const isPlain = !event.ctrlKey && !event.metaKey;
  if (isPlain && (isTyping(event.target) || isOfBox(key, event.target))) return;
  const recent = before && event.timeStamp - before.at < PAIR_MS ? before.key : null;
  before = { key, at: event.timeStamp };
  const name = matchKey(recent, key, [...handlers.keys()]);
  if (!name) return;
  event.preventDefault();
  before = null;
  for (const handler of [...(handlers.get(name) ?? [])].reverse()) if (handler() !== false) return;
}

/** Does something when a key of the table is pressed, as long as the component is there. */
export function useKey(name: KeyName, does: Handler): void {
  const latest = useRef(does);
  useEffect(() => {
    latest.current = does;
  });
  useEffect(() => {
    const handler = () => latest.current();
    if (handlers.size === 0) addEventListener('keydown', listen);
    handlers.set(name, [...(handlers.get(name) ?? []), handler]);
    return () => {
      const rest = (handlers.get(name) ?? []).filter((each) => each !== handler);
      if (rest.length > 0) handlers.set(name, rest);
      else handlers.delete(name);
      if (handlers.size === 0) removeEventListener('keydown', listen);
    };
  }, [name]);
}
