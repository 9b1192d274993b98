import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ARMING, useArmed } from './arming';

function Request({ name }: { name: string }) {
  const isArmed = useArmed(name);
  return (
    <button type="button" disabled={!isArmed}>
      Allow
    </button>
  );
}

const isArmed = () => !screen.getByRole<HTMLButtonElement>('button').disabled;
const pass = (milliseconds: number) => act(() => vi.advanceTimersByTime(milliseconds));

let start = 0;
beforeEach(() => {
  ARMING.quietMs = 425;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  // Long after the last key of the test before.
  start += 10_000;
  vi.advanceTimersByTime(start);
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

test('nothing can be answered in the first moments after it appears', () => {
  render(<Request name="a" />);
  pass(424);
  expect(isArmed()).toBe(false);
  pass(1);
  expect(isArmed()).toBe(true);
  // It stays so, whatever is pressed then.
  fireEvent.keyDown(document.body, { key: 'x' });
  pass(1);
  expect(isArmed()).toBe(true);
});

test('keys and clicks that are on their way begin the wait again', () => {
  render(<Request name="a" />);
  pass(400);
  fireEvent.keyDown(document.body, { key: 'y' });
  pass(400);
  fireEvent.pointerDown(document.body);
  pass(424);
  expect(isArmed()).toBe(false);
  pass(1);
  expect(isArmed()).toBe(true);
});

test('another request in the same place is not armed by the one before', () => {
  const { rerender } = render(<Request name="a" />);
  pass(425);
  expect(isArmed()).toBe(true);
  rerender(<Request name="b" />);
  expect(isArmed()).toBe(false);
  pass(425);
  expect(isArmed()).toBe(true);
});

test('a page that nobody sees arms nothing', () => {
  render(<Request name="a" />);
  const look = vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden');
  act(() => void document.dispatchEvent(new Event('visibilitychange')));
  pass(5000);
  expect(isArmed()).toBe(false);
  look.mockReturnValue('visible');
  act(() => void document.dispatchEvent(new Event('visibilitychange')));
  pass(424);
  expect(isArmed()).toBe(false);
  pass(1);
  expect(isArmed()).toBe(true);
});
