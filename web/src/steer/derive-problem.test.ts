import { expect, test } from 'vitest';
import { ApiError } from '../api/error';
import { CommandError } from '../stream/commands';
import { isLate, mayBeDone, problemWords } from './derive-problem';

test('an error is a sentence that says what to do', () => {
  expect(problemWords(new CommandError('run_ended', 'the run has ended'))).toBe(
    'The run has ended. Resume the run to go on.',
  );
  expect(problemWords(new ApiError(422, 'unprocessable', 'a loop needs a prompt'))).toBe(
    'A loop needs a prompt.',
  );
  expect(problemWords('odd')).toBe('Odd.');
});

test('an answer is late if another one counted or nobody waits', () => {
  expect(isLate(new CommandError('already_answered', 'x'))).toBe(true);
  expect(isLate(new CommandError('request_not_found', 'x'))).toBe(true);
  expect(isLate(new CommandError('runner_silent', 'x'))).toBe(false);
  expect(isLate(new Error('x'))).toBe(false);
});

test('a command may have been done if the run did not answer, not if it refused', () => {
  expect(mayBeDone(new CommandError('runner_silent', 'x'))).toBe(true);
  expect(mayBeDone(new Error('x'))).toBe(true);
  expect(mayBeDone(new CommandError('runner_busy', 'x'))).toBe(false);
  expect(mayBeDone(new CommandError('run_ended', 'x'))).toBe(false);
});
