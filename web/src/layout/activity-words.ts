import type { Activity, EndReason } from '../wire';

export type Tone = 'busy' | 'wait' | 'ok' | 'bad' | 'idle';

const FOR = {
  permission: 'Waits for permission',
  question: 'Asks a question',
  plan: 'Waits for plan approval',
};

const LIMITS = {
  iterations: 'Limit of iterations reached',
  runtime: 'Limit of time reached',
  iteration_timeout: 'An iteration took too long',
  cost: 'Limit of money reached',
  turns: 'Limit of turns reached',
  tokens: 'Limit of tokens reached',
};

const ENDS: Record<Extract<EndReason, string>, [string, Tone]> = {
  completed: ['Completed', 'ok'],
  agent_error: ['The agent failed', 'bad'],
  verify_failed: ['Verification failed', 'bad'],
  denied: ['Something was not allowed', 'bad'],
  not_logged_in: ['The agent is not logged in', 'bad'],
  model_not_found: ['No such model', 'bad'],
  backend_unavailable: ['The agent is not available', 'bad'],
  interrupted: ['Interrupted', 'idle'],
  stopped: ['Stopped', 'idle'],
  terminated: ['Terminated', 'idle'],
  hung_up: ['Its terminal is gone', 'idle'],
  output_closed: ['Nobody read its output', 'idle'],
  crashed: ['The agent crashed', 'bad'],
  no_result: ['Ended without a result', 'bad'],
  storage_failed: ['Its files could not be written', 'bad'],
  lost: ['Its runner died', 'bad'],
};

/** Why a run ended, for people. A reason of a newer version is told in its own word. */
export function endWords(reason: EndReason): { words: string; tone: Tone } {
  if (typeof reason === 'object')
    return { words: LIMITS[reason.limit] ?? 'A limit is reached', tone: 'wait' };
  const [words, tone] = ENDS[reason] ?? [reason, 'idle'];
  return { words, tone };
}

/** What a run is doing, for people; `subject` is what it does that with, where there is room for it. */
export function activityWords(activity: Activity): { words: string; tone: Tone; subject?: string } {
  switch (activity.state) {
    case 'starting':
      return { words: 'Starting', tone: 'busy' };
    case 'idle':
      return { words: 'Waits for a message', tone: 'idle' };
    case 'thinking':
      return { words: 'Thinking', tone: 'busy' };
    case 'responding':
      return { words: 'Writing', tone: 'busy' };
    case 'tool':
      return {
        words: `Runs ${activity.name}`,
        tone: 'busy',
        ...(activity.subject && { subject: activity.subject }),
      };
    case 'waiting':
      return { words: FOR[activity.for] ?? 'Waits for you', tone: 'wait' };
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
