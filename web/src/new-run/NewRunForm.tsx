import { useId, useMemo, useRef, useState } from 'react';
import { api, unwrap } from '../api/client';
import { problemWords } from '../steer/derive-problem';
import { AgentField } from './AgentField';
import {
  checkForm,
  type FieldProblems,
  fieldOf,
  firstWorkspace,
  formOf,
  type RunForm,
  requestOf,
  waitWords,
} from './derive-form';
import { type Untrusted, untrustedOf } from './derive-trust';
import { keepDraft, loadDraft } from './draft';
import { Field } from './Field';
import { KindField } from './KindField';
import { MoreFields } from './MoreFields';
import { usePin } from './pin';
import { RunInWay } from './RunInWay';
import { StartKeys } from './start-keys';
import { type TrustChoice, TrustDialog } from './TrustDialog';
import { useAgents } from './use-agents';
import { useProposal, useWorkspaces } from './use-proposal';

interface Props {
  /** The workspace that the list of runs shows. */
  wanted: string | undefined;
  onCancel: () => void;
  onStarted: (id: string) => void;
}

/** Everything that a run is asked to do. */
export function NewRunForm({ wanted, onCancel, onStarted }: Props) {
  const { workspaces, isPending: isListing, error: unlisted } = useWorkspaces();
  const [kept] = useState(() => loadDraft(wanted));
  const [typed, setTyped] = useState<Partial<RunForm>>(kept);
  const [isKept, setKept] = useState(Object.keys(kept).length > 0);
  const [refused, setRefused] = useState<FieldProblems>({});
  const [problem, setProblem] = useState<string | null>(null);
  const [untrusted, setUntrusted] = useState<Untrusted | null>(null);
  const [wasChecked, setChecked] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [isTyping, setTyping] = useState(false);
  const keys = useRef(new StartKeys()).current;
  const element = useRef<HTMLFormElement>(null);
  const known = useId();
  const waits = useId();

  const first = usePin('', { value: firstWorkspace(workspaces, wanted), isReady: !isListing }, isTyping);
  const path = typed.workspace ?? first.value;
  const workspace = useMemo(() => workspaces.find((each) => each.path === path.trim()), [workspaces, path]);
  const { agents, isPending, error } = useAgents(workspace?.is_there ? workspace.path : undefined);
  const proposal = useProposal(workspace, agents);
  const isKnown = !isPending && !isListing && proposal.isReady;
  const proposed = usePin(path.trim(), { value: proposal.value, isReady: isKnown }, isTyping);
  const form = formOf({ ...proposed.value, workspace: path }, typed);
  const waitsFor = waitWords({ isLooking: isPending, isListing, isKnown: proposed.isReady });
  const agent = agents.find((each) => each.name === form.backend);
  const problems: FieldProblems = { ...refused, ...(wasChecked && checkForm(form, agents)) };

  const change = (next: Partial<RunForm>) => {
    const now = { ...typed, ...next };
    setTyping(true);
    setTyped(now);
    keepDraft(now);
    setRefused({});
    setProblem(null);
  };
  const startOver = () => {
    setTyping(false);
    setTyped({});
    keepDraft({});
    setKept(false);
    setRefused({});
    setProblem(null);
    setChecked(false);
    element.current?.querySelector<HTMLElement>('textarea')?.focus();
  };
  // The first field that is wrong, once it says so.
  const focusFirstFault = () =>
    requestAnimationFrame(() => element.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus());
  const start = async (trust?: TrustChoice) => {
    if (isBusy || waitsFor) return;
    setChecked(true);
    if (Object.keys(checkForm(form, agents)).length > 0) {
      focusFirstFault();
      return;
    }
    const body = { ...requestOf(form, agent), ...(trust && { trust }) };
    const header = { 'idempotency-key': keys.keyFor(JSON.stringify(body)) };
    setBusy(true);
    setProblem(null);
    try {
      const { id } = await unwrap(api.POST('/api/v1/runs', { params: { header }, body }));
      keepDraft({});
      onStarted(id);
    } catch (failure) {
      setBusy(false);
      const shown = untrustedOf(failure, trust ? untrusted : null);
      setUntrusted(shown);
      if (shown) return;
      const words = problemWords(failure);
      const field = fieldOf(words);
      if (field) setRefused({ [field]: words });
      else setProblem(words);
      focusFirstFault();
    }
  };
  return (
    <form
      ref={element}
      noValidate
      className="grid gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        void start();
      }}
    >
      {isKept && (
        <p className="text-muted text-xs">
          This is what you typed before.{' '}
          <button type="button" className="underline" onClick={startOver}>
            Start over
          </button>
        </p>
      )}
      <Field
        label="Workspace"
        problem={problems.workspace}
        help={
          workspace && !workspace.is_there
            ? 'This directory is gone.'
            : 'Where the agent works: an absolute path'
        }
      >
        {(control) => (
          <input
            {...control}
            className="field w-full font-mono"
            list={known}
            autoComplete="off"
            spellCheck={false}
            placeholder="/home/me/project"
            value={path}
            onChange={(event) => change({ workspace: event.target.value })}
          />
        )}
      </Field>
      <datalist id={known}>
        {workspaces
          .filter((each) => each.is_there)
          .map((each) => (
            <option key={each.path} value={each.path} />
          ))}
      </datalist>
      <RunInWay message={refused.workspace} />
      <KindField value={form.kind} onChange={(kind) => change({ kind })} />
      <Field
        label="Prompt"
        problem={problems.prompt}
        help={
          form.kind === 'loop'
            ? 'What is to be done, and how one knows that it is'
            : 'Can be empty: say it later'
        }
      >
        {(control) => (
          <textarea
            {...control}
            className="field min-h-24 w-full"
            rows={4}
            value={form.prompt}
            onChange={(event) => change({ prompt: event.target.value })}
          />
        )}
      </Field>
      {isPending && <p className="min-h-[4.5rem] text-muted">Looking for agents…</p>}
      {error && (
        <p role="alert" className="text-bad">
          {problemWords(error)}
        </p>
      )}
      {agents.length > 0 && (
        <AgentField
          agents={agents}
          value={form.backend}
          problem={problems.backend}
          onChange={(backend) => change({ backend, model: '', permission: '' })}
        />
      )}
      <MoreFields form={form} agent={agent} problems={problems} onChange={change} />
      {problem && (
        <p role="alert" className="text-bad">
          {problem}
        </p>
      )}
      {(proposal.error ?? unlisted) && (
        <p role="alert" className="text-warn">
          What the last run there was asked could not be looked up. Check the limits and the commands.
        </p>
      )}
      {untrusted && (
        <TrustDialog
          workspace={form.workspace.trim()}
          untrusted={untrusted}
          isBusy={isBusy}
          onChoose={(choice) => void start(choice)}
          onClose={() => setUntrusted(null)}
        />
      )}
      <div className="sticky bottom-0 -mx-4 -mb-4 flex items-center justify-end gap-2 border-line border-t bg-bg px-4 py-2 max-sm:-mx-3 max-sm:-mb-3 max-sm:px-3">
        <span id={waits} role="status" className="min-w-0 flex-1 text-muted text-xs">
          {waitsFor}
        </span>
        <button type="button" className="button" onClick={onCancel}>
          Cancel
        </button>
        <button
          type="submit"
          className="button"
          data-primary
          disabled={isBusy || waitsFor !== null}
          aria-describedby={waits}
        >
          {isBusy ? 'Starting…' : 'Start the run'}
        </button>
      </div>
    </form>
  );
}
