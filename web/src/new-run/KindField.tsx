import type { RunKind } from '../wire';

const KINDS: [RunKind, string, string][] = [
  ['loop', 'Loop', 'It works by itself until the work is done and verified, or a limit is reached.'],
  ['session', 'Conversation', 'It does what you say, then waits for your next message.'],
];

/** Whether the agent works by itself or waits for messages. */
export function KindField({ value, onChange }: { value: RunKind; onChange: (kind: RunKind) => void }) {
  return (
    <fieldset>
      <legend className="mb-1 font-medium">Kind</legend>
      <div className="grid gap-1 sm:grid-cols-2">
        {KINDS.map(([kind, name, means]) => (
          <label
            key={kind}
            className={`flex items-start gap-2 rounded border px-2 py-1 ${
              kind === value ? 'border-accent bg-accent-soft' : 'border-line'
            }`}
          >
            <input
              type="radio"
              name="kind"
              className="mt-1"
              checked={kind === value}
              onChange={() => onChange(kind)}
            />
            <span>
              <span className="font-medium">{name}</span>
              <span className="block text-muted text-xs">{means}</span>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
