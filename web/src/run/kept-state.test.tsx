import { act, cleanup, render, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { KeptState, SentHere, useOpen } from './kept-state';

afterEach(cleanup);

let close: () => void;
function Part() {
  const [isOpen, setOpen] = useOpen('a', false);
  close = () => setOpen(false);
  return <p>{isOpen ? 'open' : 'closed'}</p>;
}

test('what somebody is sent to opens, and stays as that person leaves it', () => {
  const kept = new Map();
  const at = (sent: object | null) => (
    <KeptState value={kept}>
      <SentHere value={sent}>
        <Part />
      </SentHere>
    </KeptState>
  );
  const says = () => screen.getByRole('paragraph').textContent;
  const [first, second] = [{}, {}];
  const { rerender, unmount } = render(at(null));
  expect(says()).toBe('closed');
  rerender(at(first));
  expect(says()).toBe('open');
  act(() => close());
  expect(says()).toBe('closed');
  unmount();
  // The list shows it again: nobody was sent anew.
  const again = render(at(first));
  expect(says()).toBe('closed');
  again.rerender(at(second));
  expect(says()).toBe('open');
  again.rerender(at(null));
  expect(says()).toBe('open');
});
