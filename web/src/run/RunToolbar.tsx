import { ChevronDown, ChevronUp, FileDiff, Filter, Search } from 'lucide-react';
import { COLUMN } from './column';
import { CopyRun } from './copy/CopyRun';
import { isAsAtFirst, toggled } from './filters';
import { CATEGORIES, type Category } from './row';
import type { RunSearch } from './search-params';
import type { RunSearchChange } from './use-address';
import type { JumpKind, Jumps } from './use-jumps';

interface Props {
  id: string;
  search: RunSearch;
  hidden: ReadonlySet<Category>;
  jumps: Jumps;
  onChange: (next: RunSearchChange) => void;
}

const KINDS: [JumpKind, string][] = [
  ['errors', 'Errors'],
  ['edits', 'Edits'],
  ['questions', 'Questions'],
];

/** What can be done with the activity: filter, find, jump, see the files, copy. */
export function RunToolbar({ id, search, hidden, jumps, onChange }: Props) {
  const isFiles = search.view === 'files';
  return (
    <div className="shrink-0 border-line border-b">
      <div className={`${COLUMN} flex flex-wrap items-center gap-1 py-1`}>
        <button
          type="button"
          className="button"
          aria-pressed={isFiles}
          title="Files changed (f)"
          onClick={() => onChange({ view: isFiles ? undefined : 'files' })}
        >
          <FileDiff aria-hidden className="size-4" />
          Files changed
        </button>
        {!isFiles && <FilterMenu hidden={hidden} jumps={jumps} onChange={onChange} />}
        {!isFiles && (
          <button
            type="button"
            className="button"
            aria-pressed={search.find !== undefined}
            title="Find in this run (/)"
            onClick={() => onChange({ find: search.find === undefined ? '' : undefined })}
          >
            <Search aria-hidden className="size-4" />
            Find
          </button>
        )}
        {KINDS.map(([kind, words]) => (
          <span key={kind} className="inline-flex max-sm:hidden">
            <JumpPair kind={kind} words={words} jumps={jumps} />
          </span>
        ))}
        <span role="status" className="text-muted text-xs">
          {jumps.message}
        </span>
        {jumps.lookFurther && (
          <button type="button" className="text-accent text-xs underline" onClick={jumps.lookFurther}>
            Look further
          </button>
        )}
        <span className="flex-1" />
        <CopyRun id={id} hidden={hidden} />
      </div>
    </div>
  );
}

function FilterMenu({ hidden, jumps, onChange }: Pick<Props, 'hidden' | 'jumps' | 'onChange'>) {
  const entries = Object.entries(CATEGORIES) as [Category, string][];
  return (
    <>
      <button type="button" className="button filter-anchor" popoverTarget="filter-menu">
        <Filter aria-hidden className="size-4" />
        Show
        {!isAsAtFirst(hidden) && <span className="chip">{entries.length - hidden.size}</span>}
      </button>
      <div
        id="filter-menu"
        popover="auto"
        className="filter-menu m-0 rounded-lg border border-line bg-bg p-2 text-ink shadow-pop"
      >
        <fieldset>
          <legend className="mb-1 px-1 text-2xs text-muted uppercase tracking-wide">Show</legend>
          {entries.map(([category, words]) => (
            <label key={category} className="flex items-center gap-2 rounded px-1 py-0.5 hover:bg-hover">
              <input
                type="checkbox"
                checked={!hidden.has(category)}
                onChange={() => onChange({ hide: toggled(hidden, category) })}
              />
              {words}
            </label>
          ))}
        </fieldset>
        <fieldset className="mt-2 flex flex-col items-start gap-1 sm:hidden">
          <legend className="mb-1 px-1 text-2xs text-muted uppercase tracking-wide">Go to</legend>
          {KINDS.map(([kind, words]) => (
            <JumpPair key={kind} kind={kind} words={words} jumps={jumps} />
          ))}
        </fieldset>
      </div>
    </>
  );
}

/** To the one before, and to the next one. */
function JumpPair({ kind, words, jumps }: { kind: JumpKind; words: string; jumps: Jumps }) {
  return (
    <span className="inline-flex">
      <button
        type="button"
        className="button rounded-r-none border-r-0 px-1"
        aria-label={`Previous of: ${words}`}
        onClick={() => jumps.jump(kind, false)}
      >
        <ChevronUp aria-hidden className="size-4" />
      </button>
      <button
        type="button"
        className="button rounded-l-none pl-1"
        aria-label={`Next of: ${words}`}
        onClick={() => jumps.jump(kind, true)}
      >
        {words}
        <ChevronDown aria-hidden className="size-4" />
      </button>
    </span>
  );
}
