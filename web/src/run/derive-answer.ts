import type { CommandReceived } from '../wire';
import { actorName } from './derive-actor';
import type { Ask, AskRowBody } from './row';

/** Who answered a request, and what was granted with it, as the command that did it says. */
export function answerOf(command: CommandReceived, ask: Ask): Pick<AskRowBody, 'answerer' | 'granted'> {
  const { by, text, changed_input } = command;
  const answerer = {
    name: actorName(by),
    ...(text ? { text } : {}),
    ...(changed_input ? { changedInput: changed_input } : {}),
  };
  return { answerer, granted: grantedTexts(ask, command.grants ?? []) };
}

/** What the grants that an answer names are called in its request. */
function grantedTexts(ask: Ask, ids: readonly string[]): string[] {
  if (ask.type !== 'permission') return [];
  const offered = Array.isArray(ask.data.grants) ? ask.data.grants : [];
  return ids.map((id) => offered.find((grant) => grant.id === id)?.text ?? id);
}
