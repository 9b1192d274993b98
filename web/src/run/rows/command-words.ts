import { permissionName } from '../../new-run/derive-agent';
import type { CommandReceived } from '../../wire';
import type { Ask, AskRowBody } from '../row';

const WORDS: Record<string, string> = {
  send: 'You sent a message',
  edit_message: 'You changed a message',
  withdraw_message: 'You took a message back',
  answer: 'You answered a request',
  interrupt: 'You interrupted the agent',
  stop: 'You told the run to stop',
  kill: 'You ended the run at once',
  top_up: 'You raised the limits',
  close_input: 'You told the agent that no more messages come',
};

/** What a person told a run, for people. */
export function commandWords({ command, model, permission_mode }: CommandReceived): string {
  if (command === 'set_model') return `You chose ${model ? `the model ${model}` : 'the agent’s own model'}`;
  if (command === 'set_permission_mode') {
    return `You chose the permission mode${permission_mode ? ` ${permissionName(permission_mode)}` : ''}`;
  }
  return WORDS[command] ?? `You told the run: ${command.replaceAll('_', ' ')}`;
}

const DONE: Record<Ask['type'], { answered: string; denied: string }> = {
  permission: { answered: 'allowed', denied: 'denied' },
  question: { answered: 'answered', denied: 'declined' },
  plan: { answered: 'approved', denied: 'rejected' },
};
const PASSIVE: Record<Ask['type'], { answered: string; denied: string }> = {
  permission: { answered: 'Allowed', denied: 'Denied' },
  question: { answered: 'Answered', denied: 'Declined' },
  plan: { answered: 'Approved', denied: 'Rejected' },
};
const WAITING: Record<Ask['type'], string> = {
  permission: 'Waiting for permission',
  question: 'Waiting for an answer',
  plan: 'Waiting for plan approval',
};
const WHAT: Record<Ask['type'], string> = { permission: '', question: ' the question', plan: ' the plan' };

/** What became of something that was asked, for people. */
export function askWords({ ask, state, answerer }: AskRowBody): string {
  switch (state) {
    case 'pending':
      return answerer ? 'Answered; the agent continues in a moment' : WAITING[ask.type];
    case 'withdrawn':
      return 'Withdrawn by the agent';
    case 'ended':
      return 'Never answered: the run ended';
    case 'answered':
    case 'denied': {
      if (!answerer) return PASSIVE[ask.type][state];
      const what = ask.type === 'permission' ? ` ${ask.data.tool}` : WHAT[ask.type];
      const done = `${answerer.name ?? 'You'} ${DONE[ask.type][state]}${what}`;
      if (answerer.changedInput) return `${done} with changed arguments: ${answerer.changedInput}`;
      return answerer.text ? `${done}: ${answerer.text.replaceAll('\n', ', ')}` : done;
    }
    default:
      return String(state);
  }
}
