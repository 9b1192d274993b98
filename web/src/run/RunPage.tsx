import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Suspense, useMemo, useRef } from 'react';
import { ApiError, messageOf } from '../api/error';
import { useKey } from '../keys/use-key';
import { lazyPart } from '../layout/lazy-part';
import { NotFound } from '../layout/NotFound';
import { Problem } from '../layout/Problem';
import { useTitle } from '../layout/use-title';
import { useRun } from '../runs/use-runs';
import { RunFoot } from '../steer/RunFoot';
import { ActivityList } from './ActivityList';
import { FindBar } from './FindBar';
import { hiddenOf } from './filters';
import { KeptState } from './kept-state';
import { RunHeader } from './RunHeader';
import { RunToolbar } from './RunToolbar';
import { preloadParts } from './rows/lazy-parts';
import { RowBoundary } from './rows/RowBoundary';
import { useAddress } from './use-address';
import { useJumps } from './use-jumps';
import { useRunFeed } from './use-run-feed';

const FilesView = lazyPart(async () => (await import('./files/FilesView')).FilesView);

preloadParts();

export function RunPage() {
  const { id } = useParams({ from: '/runs/$id' });
  return <OneRun key={id} id={id} />;
}

function OneRun({ id }: { id: string }) {
  const search = useSearch({ from: '/runs/$id' });
  const navigate = useNavigate({ from: '/runs/$id' });
  const { run, error, isDeleted, refetch } = useRun(id);
  const feed = useRunFeed(id, search.seq);
  const kept = useRef(new Map<string, unknown>()).current;
  const hidden = useMemo(() => hiddenOf(search.hide), [search.hide]);
  useTitle(`${run?.title || id} · ralph`);

  /** Where the reader is: jumps and finds go on from there. At the end, as long as nothing is there to be read. */
  const reader = useRef(search.seq ?? Number.MAX_SAFE_INTEGER);
  const { target, change, goTo, goToLatest } = useAddress(feed, search, reader);
  const at = typeof target?.seq === 'number' ? target.seq : feed.last + 1;
  const jumps = useJumps(id, reader, goTo);
  useKey('latest', goToLatest);
  useKey('first', () => goTo(1));
  useKey('files', () => change({ view: search.view === 'files' ? undefined : 'files' }));
  // Nothing waits here: then it is another run that does.
  useKey('answer', () => (run && run.pending > 0 ? false : void navigate({ to: '/', search: {} })));
  useKey('find', () => change({ find: search.find ?? '', view: undefined }));

  if (isDeleted || feed.state.isDeleted) {
    return (
      <NotFound what="This run was deleted">
        Its records are gone from this machine. What it cost is still counted.
      </NotFound>
    );
  }
  if (error instanceof ApiError && error.status === 404 && !run) {
    return <NotFound what="There is no such run" />;
  }
  if (error && !run) {
    return (
      <Problem
        title="The run cannot be shown"
        onRetry={() => (feed.state.status === 'failed' ? reopen() : refetch())}
      >
        {messageOf(error)}
      </Problem>
    );
  }
  function reopen() {
    refetch();
    void feed.open(search.seq);
  }
  return (
    <KeptState value={kept}>
      <div className="flex h-full flex-col">
        <RunHeader run={run} id={id} plan={feed.state.hasAfter ? [] : feed.builder.plan} />
        <RunToolbar id={id} search={search} hidden={hidden} jumps={jumps} onChange={change} />
        {search.find !== undefined && search.view !== 'files' && (
          <FindBar
            id={id}
            text={search.find}
            at={at}
            isLive={run !== undefined && !run.ended_at}
            reader={reader}
            onChange={(find) => change({ find })}
            onGo={goTo}
          />
        )}
        <div className="min-h-0 flex-1">
          {search.view === 'files' ? (
            <Suspense fallback={<p className="p-4 text-muted">Loading…</p>}>
              <FilesView id={id} head={run?.head_seq ?? 0} workspace={run?.workspace ?? ''} onGo={goTo} />
            </Suspense>
          ) : feed.state.status === 'failed' ? (
            <Problem title="The activity cannot be shown" onRetry={reopen}>
              {feed.state.problem}
            </Problem>
          ) : (
            <ActivityList
              feed={feed}
              run={id}
              hidden={hidden}
              target={target}
              reader={reader}
              find={search.find}
              onLatest={goToLatest}
            />
          )}
        </div>
        <RowBoundary
          fallback={null}
          resetKey={run}
          note="The controls cannot be shown. Reload the page, or use the terminal."
        >
          <RunFoot id={id} run={run} feed={feed} />
        </RowBoundary>
      </div>
    </KeptState>
  );
}
