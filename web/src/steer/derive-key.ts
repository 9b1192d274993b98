import type { SendMode } from '../wire';

type Pressed = Pick<KeyboardEvent, 'key' | 'shiftKey' | 'ctrlKey' | 'metaKey' | 'altKey' | 'isComposing'>;

/**
 * What a key in the input means: Enter sends now, Ctrl-Enter after the turn, Shift-Enter begins a line. Where there is
 * no keyboard but that of a screen, Enter begins a line and the buttons send.
 */
export function keyOf(event: Pressed, isTouch: boolean): SendMode | null {
  if (event.key !== 'Enter' || event.isComposing || event.shiftKey || event.altKey) return null;
  if (event.ctrlKey || event.metaKey) return 'queue';
  return isTouch ? null : 'steer';
}
