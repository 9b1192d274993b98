import { ApiError, messageOf } from '../api/error';
import { CommandError } from '../stream/commands';

/** What to do, where the server's own words do not say it. */
const ADVICE: Record<string, string> = {
  run_ended: 'Resume the run to go on.',
  run_not_found: 'Its files may have been deleted. Go back to the list of runs.',
  runner_silent: 'Try again in a moment; if it stays so, stop the run.',
  runner_busy: 'Try again in a moment.',
  rate_limited: 'Wait a little and try again.',
  too_large: 'Shorten it and try again.',
  already_sent: 'Send another one to correct it.',
  no_connection: 'Try again when the connection is back.',
  connection_lost: 'See whether it was done, and try again if not.',
  internal: 'Try again; the server’s output says more.',
};

/** An error in whole sentences. */
export function problemWords(error: unknown): string {
  const message = messageOf(error).trim();
  const code = codeOf(error);
  const first = message.charAt(0).toUpperCase() + message.slice(1);
  const sentence = /[.!?]$/.test(first) ? first : `${first}.`;
  const advice = code ? ADVICE[code] : undefined;
  return advice ? `${sentence} ${advice}` : sentence;
}

/** What went wrong, for programs. */
export function codeOf(error: unknown): string | null {
  if (error instanceof CommandError || error instanceof ApiError) return error.code;
  return null;
}

/** Whether an answer came too late: somebody else was first, or nobody waits any more. */
export function isLate(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'already_answered' || code === 'request_not_found';
}

/** After these nobody knows. All others are refusals, which the run repeats if it is asked again under the same id. */
const UNKNOWN_OUTCOMES = ['runner_silent', 'internal', 'store_unavailable', 'timeout', 'unreachable'];

/** Whether a command may have been done although an error came of it. */
export function mayBeDone(error: unknown): boolean {
  const code = codeOf(error);
  return code === null || UNKNOWN_OUTCOMES.includes(code);
}
