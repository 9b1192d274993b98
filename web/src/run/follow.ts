/** How near to the end counts as there, in pixels. */
const NEAR = 4;

/** What a list tells of where it is scrolled to. */
export interface ScrollPlace {
  top: number;
  height: number;
  total: number;
  /** The height of all rows, as far as is known: the list may be behind with it. */
  size: number;
  /** Whether the list's end is the end of all there is. */
  hasEnd: boolean;
}

/**
 * Whether the list follows what is new. Only a person changes that: whoever scrolls up leaves, whoever scrolls down to
 * the end is back. The list's own growing, shrinking and correcting changes nothing.
 *
 * Persons have many ways to move a list, of which some tell nothing before, such as the tab key, a selection that is
 * dragged, or the browser's own search. So a list that moved while nothing grew, and not to where the page put it, was
 * moved by a person.
 */
export class Follow {
  isOn: boolean;
  /** A person moved the list just now, and which way. */
  private intent: 'up' | 'down' | 'any' | null = null;
  private last: ScrollPlace = { top: 0, height: 0, total: 0, size: 0, hasEnd: true };
  /** Where the page itself put the list last. */
  private own = -1;

  constructor(isOn: boolean) {
    this.isOn = isOn;
  }

  /** A wheel, a finger, a key or a scroll bar moves the list. */
  moves(intent: 'up' | 'down' | 'any'): void {
    this.intent = intent;
    // At once, so that what arrives before the list has moved does not pull it back.
    if (intent === 'up' && this.last.total > this.last.height + NEAR) this.isOn = false;
  }

  /** The page moves the list. */
  puts(top: number): void {
    this.own = top;
  }

  /** Whether a person moved the list, to be asked before `scrolled` is told. */
  isPersons({ top, height, total, size }: ScrollPlace): boolean {
    const { last } = this;
    // What is known of the rows and what the browser has laid out change at different times.
    if (size !== last.size || total !== last.total || height !== last.height) return false;
    if (Math.abs(top - last.top) <= NEAR) return false;
    return Math.abs(top - this.own) > NEAR;
  }

  /** The list is somewhere else now. Says whether that changed anything. */
  scrolled(place: ScrollPlace): boolean {
    const before = this.isOn;
    const isPersons = this.intent === null && this.isPersons(place);
    if (isPersons && place.top < this.last.top) this.isOn = false;
    const wentDown = place.top > this.last.top;
    const wentUp = place.top < this.last.top - 1 && place.total >= this.last.total;
    const isAtEnd = place.hasEnd && place.total - place.height - place.top <= NEAR;
    this.last = place;
    if (isPersons && isAtEnd && wentDown) this.isOn = true;
    if (this.intent === null) return before !== this.isOn;
    if (isAtEnd && this.intent !== 'up') this.isOn = true;
    else if (this.intent === 'any' && wentUp) this.isOn = false;
    return before !== this.isOn;
  }

  /** The person has let go. */
  rests(): void {
    this.intent = null;
  }
}

const UP = new Set(['ArrowUp', 'PageUp', 'Home']);
const DOWN = new Set(['ArrowDown', 'PageDown', 'End', ' ']);

/** Which way a key moves a list. */
export function intentOfKey(key: string, isShift: boolean): 'up' | 'down' | null {
  if (UP.has(key) || (key === ' ' && isShift)) return 'up';
  return DOWN.has(key) ? 'down' : null;
}
