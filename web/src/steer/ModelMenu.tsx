import { Cpu } from 'lucide-react';
import { useId, useState } from 'react';
import { awaitsMessage } from '../layout/activity-words';
import type { AgentFacts } from '../new-run/derive-agent';
import type { RunSummary } from '../wire';
import { Menu } from './Menu';
import { useChosen } from './use-chosen';
import { useCommand } from './use-command';

/** What the menus need. */
export interface MenuProps {
  run: RunSummary;
  agent: AgentFacts;
  /** The last record that says what the agent did not take. */
  refusal: number;
}

/** Lets the agent go on with another model. */
export function ModelMenu({ run, agent, refusal }: MenuProps) {
  const { pending, problem, say } = useCommand(run.id);
  const [draft, setDraft] = useState('');
  // Which model it works with an agent says in its turn.
  const isWaiting = awaitsMessage(run.activity);
  const [chosen, setChosen] = useChosen({ now: run.model, refusal, isWaiting });
  const list = useId();
  const choose = async (model: string | null, close: () => void) => {
    if (await say({ command: 'set_model', model })) {
      setDraft('');
      setChosen(model);
      close();
    }
  };
  const now = run.model ?? 'Default model';
  const next = chosen === undefined ? '' : ` → ${chosen ?? 'default'}`;
  const known = agent.models.filter((model) => model !== run.model);
  return (
    <Menu
      label="Model"
      value={pending ? 'Changing…' : `${now}${next}`}
      icon={<Cpu aria-hidden className="size-4 shrink-0" />}
    >
      {(close) => (
        <form
          className="grid gap-2"
          onSubmit={(event) => {
            event.preventDefault();
            if (draft.trim()) void choose(draft.trim(), close);
          }}
        >
          <label className="grid gap-1 text-xs">
            Another model, as the agent calls it
            <input
              className="field"
              list={list}
              value={draft}
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => setDraft(event.target.value)}
            />
          </label>
          <datalist id={list}>
            {known.map((model) => (
              <option key={model} value={model} />
            ))}
          </datalist>
          <div className="flex flex-wrap gap-1">
            <button type="submit" className="button" disabled={draft.trim() === '' || pending !== null}>
              Use it
            </button>
            <button
              type="button"
              className="button"
              disabled={pending !== null}
              onClick={() => void choose(null, close)}
            >
              The agent’s default
            </button>
          </div>
          {problem && (
            <p role="alert" className="text-bad text-xs">
              {problem}
            </p>
          )}
        </form>
      )}
    </Menu>
  );
}
