import type { EndReason, RunState } from '../wire';
import { formatTime } from './format';

type WaitingFor = Extract<RunState, { state: 'waiting' }>;

export type Tone = 'busy' | 'wait' | 'ok' | 'bad' | 'idle';

const FOR: Record<WaitingFor['for'], string> = {
  permission: 'Waiting for permission',
  question: 'Waiting for an answer',
  plan: 'Waiting for plan approval',
  budget: 'Waiting for a higher limit',
  limit: 'Waiting for the usage limit to reset',
  message: 'Waiting for a message',
};

const LIMITS = {
  iterations: 'Iteration limit reached',
  runtime: 'Time limit reached',
  iteration_timeout: 'An iteration took too long',
  cost: 'Cost limit reached',
  turns: 'Turn limit reached',
  tokens: 'Token limit reached',
  usage: 'Usage limit reached',
};

const ENDS: Record<Extract<EndReason, string>, [string, Tone]> = {
  completed: ['Completed', 'ok'],
  agent_error: ['The agent failed', 'bad'],
  verify_failed: ['Verification failed', 'bad'],
  denied: ['A tool call was denied', 'bad'],
  not_logged_in: ['The agent is not logged in', 'bad'],
  model_not_found: ['No such model', 'bad'],
  no_credit: ['No credit left', 'bad'],
  prompt_too_long: ['The prompt is too long', 'bad'],
  watchdog: ['Stopped by the watchdog', 'bad'],
  backend_unavailable: ['The agent is not available', 'bad'],
  interrupted: ['Interrupted', 'idle'],
  stopped: ['Stopped', 'idle'],
  terminated: ['Terminated', 'idle'],
  hung_up: ['The terminal was closed', 'idle'],
  output_closed: ['The output was closed', 'idle'],
  crashed: ['The agent crashed', 'bad'],
  no_result: ['Ended without a result', 'bad'],
  storage_failed: ['Its files could not be written', 'bad'],
  lost: ['Its runner died', 'bad'],
};

/** Why a run ended, for people. A reason of a newer version is told in its own word. */
export function endWords(reason: EndReason): { words: string; tone: Tone } {
  if (typeof reason === 'object')
    return { words: LIMITS[reason.limit] ?? 'A limit was reached', tone: 'wait' };
  const [words, tone] = ENDS[reason] ?? [reason, 'idle'];
  return { words, tone };
}

/** Whether a conversation waits for its next message. */
export function awaitsMessage(activity: RunState): boolean {
  return activity.state === 'waiting' && activity.for === 'message';
}

function needsPerson(waiting: WaitingFor): boolean {
  return waiting.for !== 'limit' && waiting.for !== 'message';
}

/** What a run is doing, for people; `subject` is what it does that with, where there is room for it. */
export function activityWords(activity: RunState): { words: string; tone: Tone; subject?: string } {
  switch (activity.state) {
    case 'starting':
      return { words: 'Starting', tone: 'busy' };
    case 'thinking':
      return { words: 'Thinking', tone: 'busy' };
    case 'responding':
      return { words: 'Writing', tone: 'busy' };
    case 'tool':
      return {
        words: `Running ${activity.name}`,
        tone: 'busy',
        ...(activity.subject && { subject: activity.subject }),
      };
    case 'waiting':
      return {
        words: FOR[activity.for] ?? 'Waiting',
        tone: needsPerson(activity) ? 'wait' : 'idle',
        ...(activity.for === 'limit' && { subject: formatTime(activity.until) }),
      };
    case 'cooling':
      return { words: 'Paused', tone: 'idle', subject: `until ${formatTime(activity.until)}` };
    case 'verifying':
      return { words: 'Verifying', tone: 'busy' };
    case 'stopping':
      return { words: 'Stopping', tone: 'busy' };
    case 'ended':
      return endWords(activity.reason);
    default:
      return { words: String((activity as { state: unknown }).state), tone: 'idle' };
  }
}
