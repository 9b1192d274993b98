import type { Row } from '../../run/row';
import type { Approval } from '../../wire';
import { askedOf, askedWords } from './derive-answer';

/** Why a request no longer waits, as far as the activity says; not answered by this page. */
export function closedWords(approval: Approval, rows: readonly Row[]): string {
  const what = askedWords(askedOf(approval));
  const { request } = approval;
  let by = '';
  let how = 'was answered elsewhere';
  for (const { body } of rows) {
    if (body.kind === 'ask' && body.request === request) {
      if (body.state === 'denied') how = 'was denied elsewhere';
      if (body.state === 'withdrawn') how = 'was taken back by the agent';
      if (body.state === 'ended') how = 'waits no more: the agent has ended';
      by = body.answerer?.name ? ` by ${body.answerer.name}` : '';
    }
  }
  return `“${what}” ${how}${by}.`;
}

/** Names one asking: the same request can be made again. */
export function askOf(approval: Approval): string {
  return `${approval.request}:${approval.seq}`;
}

/** Those that waited before and do not now, and that this page did not answer. */
export function closedElsewhere(
  before: readonly Approval[],
  now: readonly Approval[],
  answered: ReadonlySet<string>,
): Approval[] {
  const waiting = new Set(now.map(askOf));
  return before.filter((each) => !waiting.has(askOf(each)) && !answered.has(askOf(each)));
}
