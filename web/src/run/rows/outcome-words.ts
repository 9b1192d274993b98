import { formatCount } from '../../layout/format';
import type { Outcome, Tokens } from '../../wire';

const WORDS: Record<Extract<Outcome, string>, string> = {
  succeeded: 'succeeded',
  failed: 'failed',
  refused: 'the model refused',
  interrupted: 'interrupted',
  cancelled: 'cancelled',
  timed_out: 'its time was up',
  stalled: 'it was silent for too long',
  crashed: 'it crashed',
  no_result: 'no result',
  lost: 'nobody saw how',
};

/** How a turn or a process ended, for people. */
export function outcomeWords(outcome: Outcome): string {
  if (typeof outcome === 'object') return `limit of ${outcome.limit_reached} reached`;
  return WORDS[outcome] ?? String(outcome);
}

/** Tokens in and out, in short. */
export function tokenWords(tokens: Tokens): string {
  return `${formatCount(tokens.input + tokens.cache_read + tokens.cache_write)} in, ${formatCount(tokens.output)} out`;
}
