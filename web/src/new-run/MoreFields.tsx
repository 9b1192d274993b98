import { useId } from 'react';
import { type AgentFacts, keepsLimit, PERMISSION_WORDS } from './derive-agent';
import type { FieldProblems, RunForm } from './derive-form';
import { Field } from './Field';

interface Props {
  form: RunForm;
  agent: AgentFacts | undefined;
  problems: FieldProblems;
  onChange: (change: Partial<RunForm>) => void;
}

const LIMITS = [
  { name: 'iterations', label: 'Iterations at most', inputMode: 'numeric' },
  { name: 'cost', label: 'Dollars at most', inputMode: 'decimal' },
  { name: 'minutes', label: 'Minutes at most', inputMode: 'decimal' },
  { name: 'tokens', label: 'Tokens at most', inputMode: 'numeric' },
  { name: 'turns', label: 'Turns at most', inputMode: 'numeric' },
] as const;

/** The model, the permissions, the mode, the limits and the checks of a run. */
export function MoreFields({ form, agent, problems, onChange }: Props) {
  const models = useId();
  const modes = useId();
  const isLoop = form.kind === 'loop';
  const permission = form.permission
    ? PERMISSION_WORDS[form.permission].means
    : 'An agent that can ask does so.';
  return (
    <div className="grid gap-3 sm:grid-cols-6">
      {agent?.takesModel !== false && (
        <Field
          label="Model"
          problem={problems.model}
          help="Empty: the agent’s default"
          className="sm:col-span-2"
        >
          {(control) => (
            <input
              {...control}
              className="field w-full"
              list={models}
              autoComplete="off"
              spellCheck={false}
              value={form.model}
              onChange={(event) => onChange({ model: event.target.value })}
            />
          )}
        </Field>
      )}
      <datalist id={models}>
        {agent?.models.map((model) => (
          <option key={model} value={model} />
        ))}
      </datalist>
      {agent && agent.permissionModes.length > 0 && (
        <Field
          label="Without asking"
          problem={problems.permission}
          help={permission}
          className="sm:col-span-2"
        >
          {(control) => (
            <select
              {...control}
              className="field w-full"
              value={form.permission}
              onChange={(event) => onChange({ permission: event.target.value as RunForm['permission'] })}
            >
              <option value="">Default</option>
              {agent.permissionModes.map((mode) => (
                <option key={mode} value={mode}>
                  {PERMISSION_WORDS[mode].name}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      <Field
        label="Mode"
        problem={problems.mode}
        help="planner, coder, or one of ralph.yml; can be empty"
        className="sm:col-span-2"
      >
        {(control) => (
          <input
            {...control}
            className="field w-full"
            list={modes}
            autoComplete="off"
            spellCheck={false}
            value={form.mode}
            onChange={(event) => onChange({ mode: event.target.value })}
          />
        )}
      </Field>
      <datalist id={modes}>
        <option value="planner" />
        <option value="coder" />
      </datalist>
      {LIMITS.filter(({ name }) => (isLoop || name !== 'iterations') && keepsLimit(agent, name)).map(
        ({ name, label, inputMode }) => (
          <Field key={name} label={label} problem={problems[name]} className="sm:col-span-2">
            {(control) => (
              <input
                {...control}
                className="field w-full"
                inputMode={inputMode}
                placeholder="as the settings say"
                value={form[name]}
                onChange={(event) => onChange({ [name]: event.target.value })}
              />
            )}
          </Field>
        ),
      )}
      {isLoop && (
        <Field
          label="Commands that verify the work"
          problem={problems.verify}
          help="One per line. The work is done when each of them exits with 0. Empty: those of the workspace’s settings"
          className="sm:col-span-6"
        >
          {(control) => (
            <textarea
              {...control}
              className="field w-full font-mono"
              rows={2}
              spellCheck={false}
              value={form.verify}
              onChange={(event) => onChange({ verify: event.target.value })}
            />
          )}
        </Field>
      )}
    </div>
  );
}
