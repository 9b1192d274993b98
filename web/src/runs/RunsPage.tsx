import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { Suspense, useRef } from 'react';
import { messageOf } from '../api/error';
import { useKey } from '../keys/use-key';
import { lazyPart } from '../layout/lazy-part';
import { Problem } from '../layout/Problem';
import { useNow } from '../layout/use-now';
import { useTitle } from '../layout/use-title';
import { NeedsYou } from '../steer/approvals/NeedsYou';
import { RunCard } from './RunCard';
import { RunFilters } from './RunFilters';
import type { RunsSearch } from './search-params';
import { useRuns } from './use-runs';

const NewRunDialog = lazyPart(async () => (await import('../new-run/NewRunDialog')).NewRunDialog);

/** All runs: who waits for a person first. */
export function RunsPage() {
  const search = useSearch({ from: '/' });
  const { runs, pages } = useRuns(search);
  const now = useNow(runs.some((run) => !run.ended_at));
  const list = useRef<HTMLUListElement>(null);
  useTitle('Runs · ralph');
  const step = (by: number) => {
    const links = [...(list.current?.querySelectorAll<HTMLElement>('a[data-run]') ?? [])];
    const at = links.indexOf(document.activeElement as HTMLElement);
    links[at < 0 ? 0 : Math.min(links.length - 1, Math.max(0, at + by))]?.focus();
  };
  useKey('next', () => step(1));
  useKey('previous', () => step(-1));
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto max-w-5xl px-3 py-3">
        <div className="mb-3 flex flex-wrap items-center gap-2">
          <h1 className="mr-2 font-semibold text-lg">Runs</h1>
          <RunFilters search={search} runs={runs} />
          <span className="flex-1" />
          <Link to="/" search={{ ...search, new: 1 }} className="button" data-primary>
            <Plus aria-hidden className="size-4" />
            New run
          </Link>
        </div>
        {search.new && (
          <Suspense
            fallback={
              <p
                role="status"
                className="-translate-x-1/2 fixed top-1/3 left-1/2 rounded border border-line bg-bg px-4 py-2 text-muted shadow-pop"
              >
                Opening…
              </p>
            }
          >
            <NewRunDialog />
          </Suspense>
        )}
        <NeedsYou />
        {pages.isError && runs.length === 0 ? (
          <Problem title="The runs cannot be shown" onRetry={() => void pages.refetch()}>
            {messageOf(pages.error)}
          </Problem>
        ) : pages.isPending && runs.length === 0 ? (
          <Loading />
        ) : runs.length === 0 ? (
          <Empty search={search} />
        ) : (
          <ul ref={list} className="divide-y divide-line overflow-hidden rounded-lg border border-line">
            {runs.map((run) => (
              <RunCard key={run.id} run={run} now={now} />
            ))}
          </ul>
        )}
        {pages.hasNextPage && (
          <button
            type="button"
            className="button mt-3"
            disabled={pages.isFetchingNextPage}
            onClick={() => void pages.fetchNextPage()}
          >
            {pages.isFetchingNextPage ? 'Loading…' : 'Show older runs'}
          </button>
        )}
      </div>
    </div>
  );
}

function Loading() {
  return (
    <div role="status" className="divide-y divide-line rounded-lg border border-line">
      <span className="sr-only">Loading the runs</span>
      {[0, 1, 2].map((each) => (
        <div key={each} className="h-[4.25rem] motion-safe:animate-pulse">
          <div className="m-3 h-4 w-2/3 rounded bg-sunken" />
          <div className="m-3 h-3 w-1/3 rounded bg-sunken" />
        </div>
      ))}
    </div>
  );
}

function Empty({ search }: { search: RunsSearch }) {
  const navigate = useNavigate();
  const isFiltered = Boolean(search.state || search.workspace || search.backend);
  return (
    <div className="rounded-lg border border-line border-dashed p-8 text-center">
      <p className="mb-1 font-semibold">{isFiltered ? 'No run is like that' : 'No runs yet'}</p>
      {isFiltered ? (
        <button type="button" className="button" onClick={() => void navigate({ to: '/', search: {} })}>
          Show all runs
        </button>
      ) : (
        <p className="text-muted">
          Start one here with{' '}
          <Link to="/" search={{ ...search, new: 1 }} className="text-accent underline">
            New run
          </Link>
          , or in a terminal with <code className="rounded bg-sunken px-1 font-mono">ralph run</code>; see a
          scripted one with <code className="rounded bg-sunken px-1 font-mono">ralph demo</code>. It appears
          here by itself.
        </p>
      )}
    </div>
  );
}
