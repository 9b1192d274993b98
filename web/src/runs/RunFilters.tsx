import { useNavigate } from '@tanstack/react-router';
import { useRef } from 'react';
import { shortPath } from '../layout/format';
import type { RunSummary } from '../wire';
import type { RunsSearch } from './search-params';

const STATES = [
  [undefined, 'All'],
  ['active', 'Active'],
  ['waiting', 'Waiting for you'],
  ['ended', 'Ended'],
] as const;

/** Which runs are shown. The address keeps it. */
export function RunFilters({ search, runs }: { search: RunsSearch; runs: RunSummary[] }) {
  const navigate = useNavigate();
  const choose = (change: { [Key in keyof RunsSearch]?: RunsSearch[Key] | undefined }) => {
    const next = { ...search, ...change };
    const kept = Object.fromEntries(Object.entries(next).filter(([, value]) => value !== undefined));
    void navigate({ to: '/', search: kept as RunsSearch });
  };
  return (
    <>
      <fieldset aria-label="State" className="flex flex-wrap gap-1">
        {STATES.map(([state, words]) => (
          <button
            key={words}
            type="button"
            className="button"
            aria-pressed={search.state === state}
            onClick={() => choose({ state })}
          >
            {words}
          </button>
        ))}
      </fieldset>
      <Choice
        label="Workspace"
        all="All workspaces"
        value={search.workspace}
        known={runs.map((run) => run.workspace)}
        show={shortPath}
        onChoose={(workspace) => choose({ workspace })}
      />
      <Choice
        label="Agent"
        all="All agents"
        value={search.backend}
        known={runs.map((run) => run.backend)}
        show={(name) => runs.find((run) => run.backend === name)?.display_name ?? name}
        onChoose={(backend) => choose({ backend })}
      />
    </>
  );
}

interface ChoiceProps {
  label: string;
  all: string;
  value: string | undefined;
  known: string[];
  show: (value: string) => string;
  onChoose: (value: string | undefined) => void;
}

function Choice({ label, all, value, known, show, onChoose }: ChoiceProps) {
  // What was seen once can be chosen while the page is open, though the filters hide it now.
  const seen = useRef(new Set<string>());
  for (const each of known) seen.current.add(each);
  if (value) seen.current.add(value);
  if (seen.current.size < 2 && !value) return null;
  return (
    <select
      className="field max-w-48"
      aria-label={label}
      value={value ?? ''}
      onChange={(event) => onChoose(event.target.value || undefined)}
    >
      <option value="">{all}</option>
      {[...seen.current].sort().map((each) => (
        <option key={each} value={each}>
          {show(each)}
        </option>
      ))}
    </select>
  );
}
