import type { AgentFacts } from './derive-agent';

interface Props {
  agents: AgentFacts[];
  value: string;
  problem: string | undefined;
  onChange: (name: string) => void;
}

/** Which agent: those that are installed, then the others with the reason, then whatever the workspace says. */
export function AgentField({ agents, value, problem, onChange }: Props) {
  return (
    <fieldset aria-describedby={problem ? 'agent-problem' : undefined}>
      <legend className="mb-1 font-medium">Agent</legend>
      <div className="grid gap-1 sm:grid-cols-2">
        {agents.map((agent) => (
          <label
            key={agent.name}
            className={`flex min-w-0 items-start gap-2 rounded border px-2 py-1 ${
              agent.name === value ? 'border-accent bg-accent-soft' : 'border-line'
            } ${agent.isInstalled ? '' : 'text-muted'}`}
          >
            <input
              type="radio"
              name="agent"
              className="mt-1"
              value={agent.name}
              checked={agent.name === value}
              disabled={!agent.isInstalled}
              onChange={() => onChange(agent.name)}
            />
            <span className="min-w-0">
              <span className="font-medium">{agent.displayName}</span>
              {agent.version && <span className="ml-2 text-muted text-xs">{agent.version}</span>}
              {agent.name === 'demo' && (
                <span className="block text-muted text-xs">A scripted agent: no key, no costs</span>
              )}
              {!agent.isInstalled && (
                <span className="block break-words text-xs">{agent.problem ?? 'Not installed.'}</span>
              )}
            </span>
          </label>
        ))}
        <label
          className={`flex min-w-0 items-start gap-2 rounded border px-2 py-1 ${
            value === '' ? 'border-accent bg-accent-soft' : 'border-line'
          }`}
        >
          <input
            type="radio"
            name="agent"
            className="mt-1"
            value=""
            checked={value === ''}
            onChange={() => onChange('')}
          />
          <span className="min-w-0">
            <span className="font-medium">As the workspace says</span>
            <span className="block text-muted text-xs">Its ralph.yml, such as a command of your own</span>
          </span>
        </label>
      </div>
      {problem && (
        <p id="agent-problem" role="alert" className="text-bad text-xs">
          {problem}
        </p>
      )}
    </fieldset>
  );
}
