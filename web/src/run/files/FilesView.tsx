import { useQuery, useQueryClient } from '@tanstack/react-query';
import { FileDiff } from 'lucide-react';
import { useMemo, useState } from 'react';
import { fetchChanges } from '../../api/changes';
import { messageOf } from '../../api/error';
import { CopyButton } from '../../code/CopyButton';
import { DiffModeButton } from '../../diff/DiffModeButton';
import { DiffView } from '../../diff/DiffView';
import { useDiffMode } from '../../diff/diff-mode';
import { formatTime } from '../../layout/format';
import { Problem } from '../../layout/Problem';
import { COLUMN, WIDE_COLUMN } from '../column';
import { type ChangedFile, deriveFiles, deriveNetFiles, relativePath } from './derive-files';
import { patchOf } from './derive-patch';
import { type Changes, loadChanges, loadReported } from './load-changes';

interface Props {
  id: string;
  /** The last record of the run: what was changed since is fetched when it has moved on. */
  head: number;
  workspace: string;
  onGo: (seq: number) => void;
}

/** A run that goes on is looked at anew this often, if it has gone on. */
const AGAIN_MS = 3_000;

/** All files that the run changed: as git compares them, or as tool calls reported each change, in order. */
export function FilesView({ id, head, workspace, onGo }: Props) {
  const queries = useQueryClient();
  const [isReported, setReported] = useState(false);
  const queryKey = ['files', id, isReported];
  const { data, error, isPending, refetch } = useQuery({
    queryKey,
    queryFn: ({ signal }) => {
      const load = isReported ? loadReported : loadChanges;
      return load((query) => fetchChanges(id, query, signal), queries.getQueryData<Changes>(queryKey));
    },
    refetchInterval: ({ state }) => (state.data?.isComplete && state.data.after < head ? AGAIN_MS : false),
  });
  const isNet = data?.basis === 'git';
  const files = useMemo(
    () => (data?.basis === 'git' ? deriveNetFiles(data.items) : deriveFiles(data?.items ?? [])),
    [data],
  );
  const { mode, isWide } = useDiffMode();
  if (error && !data) {
    return (
      <Problem title="The files cannot be shown" onRetry={() => void refetch()}>
        {messageOf(error)}
      </Problem>
    );
  }
  if (isPending) return <p className={`${COLUMN} py-4 text-muted`}>Looking for changed files…</p>;
  const basis = (isNet || isReported) && (
    <p className="mb-2 text-muted text-xs">
      {isNet
        ? `Compared with commit ${data.startCommit?.slice(0, 7)}, which the run started from. Includes what commands and others changed, before the run or since.`
        : 'What tool calls reported. What commands changed is not included.'}{' '}
      <button type="button" className="text-accent underline" onClick={() => setReported(!isReported)}>
        {isNet ? 'Show what tool calls reported' : 'Show the net changes'}
      </button>
    </p>
  );
  if (files.length === 0) {
    return (
      <div className={`${COLUMN} py-4 text-muted`}>
        <p className="mb-2">
          {isNet
            ? 'No file has changed.'
            : 'No tool call has reported a changed file. What commands change is not reported.'}
        </p>
        {basis}
      </div>
    );
  }
  const added = files.reduce((sum, file) => sum + file.added, 0);
  const removed = files.reduce((sum, file) => sum + file.removed, 0);
  return (
    <section aria-label="Files changed" tabIndex={0} className="h-full overflow-y-auto py-2">
      <div className={isWide && mode === 'split' ? WIDE_COLUMN : COLUMN}>
        <div className="mb-2 flex flex-wrap items-center gap-2">
          <p className="flex-1 text-muted">
            {files.length === 1 ? '1 file' : `${files.length} files`} changed,{' '}
            <Lines added={added} removed={removed} />
            {data.isComplete ? '' : isNet ? ' and more' : ' in the first part of this long run. '}
            {!data.isComplete && !isNet && (
              <button type="button" className="text-accent underline" onClick={() => void refetch()}>
                Look further
              </button>
            )}
          </p>
          <DiffModeButton className="button" />
          <CopyButton
            text={() => files.map((file) => patchOf(file, workspace)).join('')}
            label="Copy diff"
            hasWords
          />
        </div>
        {basis}
        {error && (
          <p role="status" className="mb-2 text-bad">
            What was changed since cannot be told: {messageOf(error)}
          </p>
        )}
        {files.map((file) => (
          <OneFile
            key={file.path}
            run={id}
            file={file}
            workspace={workspace}
            isOpen={files.length <= 20}
            onGo={onGo}
          />
        ))}
      </div>
    </section>
  );
}

function Lines({ added, removed }: { added: number; removed: number }) {
  return (
    <span className="tabular-nums">
      <span className="text-ok">+{added}</span> <span className="text-bad">−{removed}</span>
    </span>
  );
}

interface OneFileProps {
  run: string;
  file: ChangedFile;
  workspace: string;
  isOpen: boolean;
  onGo: (seq: number) => void;
}

function OneFile({ run, file, workspace, isOpen: isOpenAtFirst, onGo }: OneFileProps) {
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  const [areStepsOpen, setStepsOpen] = useState(false);
  const name = relativePath(file.path, workspace);
  return (
    <details
      open={isOpen}
      onToggle={(event) => setOpen(event.currentTarget.open)}
      className="relative mb-2 rounded-lg border border-line"
    >
      <summary className="flex items-center gap-2 py-1.5 pr-10 pl-3">
        <FileDiff aria-hidden className="size-4 shrink-0 text-muted" />
        <span className="min-w-0 flex-1 truncate font-mono text-xs" title={file.path}>
          {name}
        </span>
        {file.changes.length > 1 && <span className="text-muted text-xs">{file.changes.length} changes</span>}
        <span className="chip">{file.kind}</span>
        <Lines added={file.added} removed={file.removed} />
      </summary>
      <span className="absolute top-1 right-2">
        <CopyButton text={() => patchOf(file, workspace)} label={`Copy diff of ${name}`} />
      </span>
      {isOpen && file.net && (
        <div className="border-line border-t p-2">
          {file.changes.length === 0 ? (
            <NetChange run={run} file={file} />
          ) : (
            <>
              <DiffView change={file.net} hasHeader={false} />
              <details className="mt-2" onToggle={(event) => setStepsOpen(event.currentTarget.open)}>
                <summary className="text-muted text-xs">One by one</summary>
                {areStepsOpen && <Steps file={file} onGo={onGo} />}
              </details>
            </>
          )}
        </div>
      )}
      {isOpen && !file.net && <Steps file={file} onGo={onGo} />}
    </details>
  );
}

/** The net change by git. A long diff is not in the list, and fetched when it is asked for. */
function NetChange({ run, file }: Pick<OneFileProps, 'run' | 'file'>) {
  const { path, net, added, removed } = file;
  const [isWanted, setWanted] = useState(false);
  const { data, error, isFetching } = useQuery({
    queryKey: ['files', run, 'diff', path, added, removed],
    queryFn: async ({ signal }) => {
      const { items } = await fetchChanges(run, { path }, signal);
      return items.find((item) => item.path === path)?.diff ?? null;
    },
    enabled: isWanted,
  });
  const diff = net?.diff ?? data;
  if (diff) return <DiffView change={{ path, kind: file.kind, diff }} hasHeader={false} />;
  if (added + removed === 0) return <p className="text-muted text-xs">There are no lines to show.</p>;
  if (error) return <p className="text-bad text-xs">{messageOf(error)}</p>;
  if (data === null) return <p className="text-muted text-xs">The diff is too long to show.</p>;
  return (
    <button type="button" className="button" disabled={isFetching} onClick={() => setWanted(true)}>
      Show the diff
    </button>
  );
}

function Steps({ file, onGo }: Pick<OneFileProps, 'file' | 'onGo'>) {
  return file.changes.map(({ seq, at, change }, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a call may change a file twice, and changes are only added.
    <div key={`${seq} ${index}`} className="border-line border-t p-2">
      <p className="mb-1 flex gap-3 text-muted text-xs">
        <span>{formatTime(at)}</span>
        <button type="button" className="text-accent underline" onClick={() => onGo(seq)}>
          Show in the activity
        </button>
      </p>
      <DiffView change={change} hasHeader={false} />
    </div>
  ));
}
