import type { AgentFacts } from '../new-run/derive-agent';
import type { RunSummary } from '../wire';

/** Whether something can be said to a run, and why not. */
export type InputState =
  | { is: 'open' }
  /** Not known yet: nothing is shown, so that nothing jumps. */
  | { is: 'unknown' }
  | { is: 'absent'; why: string };

/** When the input is there. */
export function deriveInput(run: RunSummary | undefined, agent: AgentFacts | undefined): InputState {
  if (!run) return { is: 'unknown' };
  if (run.activity.state === 'ended') return { is: 'absent', why: 'This run has ended.' };
  if (run.activity.state === 'stopping') {
    return { is: 'absent', why: 'This run is stopping. It can be resumed when it has ended.' };
  }
  if (agent && !agent.takesMessages) {
    return { is: 'absent', why: `${agent.displayName} takes no messages while it works.` };
  }
  return { is: 'open' };
}

/** Whether the conversation of a run can be gone on with; otherwise why not. */
export interface GoingOn {
  /** Null if it can. */
  resumeProblem: string | null;
  forkProblem: string | null;
}

export function deriveGoingOn(run: RunSummary, agent: AgentFacts | undefined): GoingOn {
  const name = agent?.displayName ?? run.display_name;
  const kept =
    run.is_ephemeral || run.session_ids.length === 0
      ? `${name} kept no conversation of this run. Start a new run instead.`
      : null;
  const ended =
    run.activity.state === 'ended'
      ? null
      : 'The run goes on and has the workspace: send it a message, or stop it first.';
  const resumes = agent && !agent.canResume ? `${name} cannot go on with an earlier conversation.` : null;
  const forks = agent && !agent.canFork ? `${name} cannot copy a conversation.` : null;
  return {
    resumeProblem: kept ?? resumes ?? ended,
    forkProblem: kept ?? forks ?? ended,
  };
}
