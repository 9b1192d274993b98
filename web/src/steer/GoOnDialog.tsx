import { useRef, useState } from 'react';
import { api, unwrap } from '../api/client';
import { type Untrusted, untrustedOf } from '../new-run/derive-trust';
import { RunInWay } from '../new-run/RunInWay';
import { StartKeys } from '../new-run/start-keys';
import { type TrustChoice, TrustDialog } from '../new-run/TrustDialog';
import type { RunKind, RunSummary } from '../wire';
import { problemWords } from './derive-problem';
import { Modal } from './Modal';
import type { Outbox } from './outbox';

interface Props {
  run: RunSummary;
  as: 'resume' | 'fork';
  /** Keeps what is written, also when the dialog is closed. */
  outbox: Outbox;
  onClose: () => void;
  onStarted: (id: string) => void;
}

const TITLES = { resume: 'Resume this run', fork: 'Fork this run' };

/** Asks what the agent is told when its conversation goes on. */
export function GoOnDialog({ run, as, outbox, onClose, onStarted }: Props) {
  const prompt = outbox.draft;
  const [kind, setKind] = useState<RunKind>(run.kind);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const [untrusted, setUntrusted] = useState<Untrusted | null>(null);
  const keys = useRef(new StartKeys()).current;
  const needsPrompt = kind === 'loop' && prompt.trim() === '';
  const start = async (trust?: TrustChoice) => {
    if (isBusy) return;
    if (needsPrompt) {
      setProblem('A loop needs something to do: say what, or choose a conversation.');
      return;
    }
    const body = { kind, ...(prompt.trim() && { prompt: prompt.trim() }), ...(trust && { trust }) };
    const params = {
      path: { id: run.id },
      header: { 'idempotency-key': keys.keyFor(JSON.stringify(body)) },
    };
    setBusy(true);
    setProblem(null);
    try {
      const asked =
        as === 'resume'
          ? api.POST('/api/v1/runs/{id}/resume', { params, body })
          : api.POST('/api/v1/runs/{id}/fork', { params, body });
      onStarted((await unwrap(asked)).id);
    } catch (error) {
      setBusy(false);
      const shown = untrustedOf(error, trust ? untrusted : null);
      setUntrusted(shown);
      if (!shown) setProblem(problemWords(error));
    }
  };
  return (
    <Modal title={TITLES[as]} onClose={onClose}>
      <form
        className="grid gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          void start();
        }}
      >
        <p className="text-muted">
          {as === 'resume'
            ? 'The conversation goes on in a new run.'
            : 'A copy of the conversation goes on in a new run; this one stays as it is.'}
        </p>
        <label className="grid gap-1">
          <span className="font-medium">Message{kind === 'session' && ' (can be empty)'}</span>
          <textarea
            className="field min-h-20"
            value={prompt}
            aria-invalid={needsPrompt && problem !== null}
            onChange={(event) => outbox.write(event.target.value)}
          />
        </label>
        <fieldset className="flex flex-wrap gap-4">
          <legend className="mb-1 font-medium">It goes on as</legend>
          <label className="flex items-center gap-2">
            <input
              type="radio"
              name="kind"
              checked={kind === 'session'}
              onChange={() => setKind('session')}
            />
            a conversation
          </label>
          <label className="flex items-center gap-2">
            <input type="radio" name="kind" checked={kind === 'loop'} onChange={() => setKind('loop')} />a
            loop
          </label>
        </fieldset>
        {problem && (
          <p role="alert" className="text-bad">
            {problem}
          </p>
        )}
        <RunInWay message={problem} />
        {untrusted && (
          <TrustDialog
            workspace={run.workspace}
            untrusted={untrusted}
            isBusy={isBusy}
            onChoose={(choice) => void start(choice)}
            onClose={() => setUntrusted(null)}
          />
        )}
        <div className="flex justify-end gap-2">
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="button" data-primary disabled={isBusy}>
            {isBusy ? 'Starting…' : as === 'resume' ? 'Resume' : 'Fork'}
          </button>
        </div>
      </form>
    </Modal>
  );
}
