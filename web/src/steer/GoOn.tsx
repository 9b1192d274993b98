import { useNavigate } from '@tanstack/react-router';
import { GitBranch, Play } from 'lucide-react';
import { useState } from 'react';
import type { AgentFacts } from '../new-run/derive-agent';
import type { RunSummary } from '../wire';
import { deriveGoingOn } from './derive-input';
import { GoOnDialog } from './GoOnDialog';
import type { Outbox } from './outbox';

interface Props {
  run: RunSummary;
  agent: AgentFacts | undefined;
  /** What was being written when the run ended is what the next one is told. */
  outbox: Outbox;
}

/** Goes on with the conversation of a run, or with a copy of it, in a new run. */
export function GoOn({ run, agent, outbox }: Props) {
  const [asks, setAsks] = useState<'resume' | 'fork' | null>(null);
  const navigate = useNavigate();
  const { resumeProblem, forkProblem } = deriveGoingOn(run, agent);
  const problem = resumeProblem ?? forkProblem;
  return (
    <>
      <button
        type="button"
        className="button"
        disabled={resumeProblem !== null}
        title={resumeProblem ?? 'Go on with this conversation in a new run'}
        onClick={() => setAsks('resume')}
      >
        <Play aria-hidden className="size-4" />
        Resume
      </button>
      <button
        type="button"
        className="button"
        disabled={forkProblem !== null}
        title={forkProblem ?? 'Go on with a copy of this conversation; this one stays as it is'}
        onClick={() => setAsks('fork')}
      >
        <GitBranch aria-hidden className="size-4" />
        Fork
      </button>
      {problem && <span className="text-muted text-xs">{problem}</span>}
      {asks && (
        <GoOnDialog
          run={run}
          as={asks}
          outbox={outbox}
          onClose={() => setAsks(null)}
          onStarted={(id) => {
            setAsks(null);
            outbox.write('');
            void navigate({ to: '/runs/$id', params: { id } });
          }}
        />
      )}
    </>
  );
}
