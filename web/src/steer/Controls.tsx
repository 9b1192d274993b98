import { OctagonX, Pause, Square } from 'lucide-react';
import { memo, useState } from 'react';
import { awaitsMessage } from '../layout/activity-words';
import type { AgentFacts } from '../new-run/derive-agent';
import type { RunSummary } from '../wire';
import { ConfirmDialog } from './ConfirmDialog';
import { ModelMenu } from './ModelMenu';
import { PermissionMenu } from './PermissionMenu';
import { type CommandState, useCommand } from './use-command';

interface Props {
  run: RunSummary;
  agent: AgentFacts | undefined;
  /** The last record that says what the agent did not take. */
  refusal: number;
}

/** How far the end of a run is: told is not done. */
function stopWords(pending: CommandState['pending'], isStopping: boolean): string {
  if (pending === 'kill') return 'Telling the run to end at once…';
  if (isStopping) return 'The run is stopping.';
  return pending === 'stop' ? 'Telling the run to stop…' : '';
}

/** What can be done with a run that goes on, but for saying something to it. */
export const Controls = memo(function Controls({ run, agent, refusal }: Props) {
  const { pending, problem, note, say } = useCommand(run.id);
  const [asks, setAsks] = useState<'interrupt' | 'stop' | 'kill' | null>(null);
  const { state } = run.activity;
  const isStopping = state === 'stopping';
  const isLoop = run.kind === 'loop';
  const isIdle = awaitsMessage(run.activity);
  return (
    <div className="flex flex-wrap items-center gap-1">
      {!isStopping && (
        <button
          type="button"
          className="button"
          disabled={isIdle || pending === 'interrupt'}
          title={
            isLoop ? 'End the agent’s turn; a loop ends with it' : 'End the agent’s turn; the run goes on'
          }
          onClick={() => (isLoop ? setAsks('interrupt') : void say({ command: 'interrupt' }))}
        >
          <Pause aria-hidden className="size-4" />
          <span className="max-sm:sr-only">{pending === 'interrupt' ? 'Interrupting…' : 'Interrupt'}</span>
        </button>
      )}
      {isStopping ? (
        <button type="button" className="button" data-danger onClick={() => setAsks('kill')}>
          <OctagonX aria-hidden className="size-4" />
          {pending === 'kill' ? 'Killing…' : 'Kill'}
        </button>
      ) : (
        <button
          type="button"
          className="button"
          disabled={pending === 'stop'}
          onClick={() => setAsks('stop')}
        >
          <Square aria-hidden className="size-4" />
          <span className="max-sm:sr-only">Stop</span>
        </button>
      )}
      {!isStopping && agent?.takesModel && <ModelMenu run={run} agent={agent} refusal={refusal} />}
      {!isStopping && agent && agent.permissionModes.length > 0 && (
        <PermissionMenu run={run} agent={agent} refusal={refusal} />
      )}
      <span role="status" className={`min-w-0 text-xs ${problem ? 'text-bad' : 'text-muted'}`}>
        {problem ?? note ?? stopWords(pending, isStopping)}
      </span>
      {asks === 'interrupt' && (
        <ConfirmDialog
          title="Interrupt this loop?"
          action="Interrupt the loop"
          onClose={() => setAsks(null)}
          onConfirm={() => void say({ command: 'interrupt' })}
        >
          The agent’s turn ends, and the loop ends with it. What is written so far stays, and the run can be
          resumed if the agent keeps its conversation.
        </ConfirmDialog>
      )}
      {asks === 'stop' && (
        <ConfirmDialog
          title="Stop this run?"
          action="Stop the run"
          onClose={() => setAsks(null)}
          onConfirm={() => void say({ command: 'stop' })}
        >
          The agent is asked to end, and the run with it. What is written so far stays, and the run can be
          resumed if the agent keeps its conversation.
        </ConfirmDialog>
      )}
      {asks === 'kill' && (
        <ConfirmDialog
          title="Kill this run?"
          action="Kill the run"
          onClose={() => setAsks(null)}
          onConfirm={() => void say({ command: 'kill' })}
        >
          The agent and everything it has started are ended at once, whatever they are doing. A file that is
          being written may be left half done.
        </ConfirmDialog>
      )}
    </div>
  );
});
