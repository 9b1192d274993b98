import { expect, test } from 'vitest';
import { isSettled, type ToolCall } from './tool-call';

test('a call that goes on in the background has said its last word', () => {
  const call = { state: 'background' } as ToolCall;
  expect(isSettled(call)).toBe(true);
  expect(isSettled({ ...call, state: 'waiting' })).toBe(false);
});
