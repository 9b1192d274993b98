import {
  type KeyboardEvent,
  type TouchEvent,
  type UIEvent,
  useCallback,
  useMemo,
  useRef,
  useState,
} from 'react';
import { Follow, intentOfKey } from './follow';

/** After the last sign of a person, a list may go on by its own momentum for this long. */
const MOMENTUM_MS = 1_000;

/** Follow mode of a list, and what the list must tell it. */
export function useFollow(isOnAtFirst: boolean, hasEnd: boolean, sizeOf: () => number, onMove: () => void) {
  const [follow] = useState(() => new Follow(isOnAtFirst));
  const [isFollowing, setShown] = useState(follow.isOn);
  const rest = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const touchY = useRef(0);
  const latest = useRef({ onMove, sizeOf, hasEnd });
  latest.current = { onMove, sizeOf, hasEnd };
  const setFollowing = useCallback(
    (next: boolean) => {
      follow.isOn = next;
      setShown(next);
    },
    [follow],
  );
  const handlers = useMemo(() => {
    const moves = (intent: 'up' | 'down' | 'any') => {
      latest.current.onMove();
      follow.moves(intent);
      setShown(follow.isOn);
      clearTimeout(rest.current);
      rest.current = setTimeout(() => follow.rests(), MOMENTUM_MS);
    };
    return {
      onWheel: (event: { deltaY: number }) => {
        if (event.deltaY !== 0) moves(event.deltaY < 0 ? 'up' : 'down');
      },
      onTouchStart: (event: TouchEvent) => {
        touchY.current = event.touches[0]?.clientY ?? 0;
      },
      onTouchMove: (event: TouchEvent) => {
        const y = event.touches[0]?.clientY ?? 0;
        if (y !== touchY.current) moves(y > touchY.current ? 'up' : 'down');
        touchY.current = y;
      },
      onKeyDown: (event: KeyboardEvent) => {
        const intent = intentOfKey(event.key, event.shiftKey);
        // Boxes in a row scroll by themselves, and buttons take the space bar; a row does neither.
        const isOwn = event.target === event.currentTarget || (event.target as Element).matches('.row');
        if (intent && isOwn) moves(intent);
      },
      // The scroll bar belongs to the element itself.
      onPointerDown: (event: { target: unknown; currentTarget: unknown }) => {
        if (event.target === event.currentTarget) moves('any');
      },
      onScroll: (event: UIEvent<HTMLElement>) => {
        const { scrollTop, clientHeight, scrollHeight } = event.currentTarget;
        const { hasEnd, sizeOf, onMove } = latest.current;
        const size = sizeOf();
        const place = { top: scrollTop, height: clientHeight, total: scrollHeight, size, hasEnd };
        if (follow.isPersons(place)) onMove();
        if (follow.scrolled(place)) setShown(follow.isOn);
      },
    };
  }, [follow]);
  return { follow, isFollowing, setFollowing, handlers };
}
