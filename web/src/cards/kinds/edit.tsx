import { FilePen } from 'lucide-react';
import { Suspense } from 'react';
import { DiffCounts } from '../../diff/DiffHeader';
import type { DiffSource } from '../../diff/derive-source';
import { lazyPart } from '../../layout/lazy-part';
import type { ToolCall } from '../../run/tool-call';
import type { Card, CardProps } from '../card';
import { deriveCounts, deriveEdits } from '../derive-edits';
import { Output } from '../Output';
import { Nothing } from '../parts';

const DiffView = lazyPart(async () => (await import('../../diff/DiffView')).DiffView);

const LOADING_DIFF = (
  <div aria-busy>
    <Nothing>Loading the diff…</Nothing>
  </div>
);

const WORDS = { added: 'new', modified: 'changed', deleted: 'deleted', moved: 'moved' };

function EditBody({ call, run }: CardProps) {
  const { diffs, files } = deriveEdits(call);
  const hasFailed = call.state === 'failed' || call.state === 'denied';
  return (
    <>
      {hasFailed && <Output call={call} run={run} label="Error" />}
      {diffs.map((source, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an edit is known by its place only.
        <Suspense key={at} fallback={LOADING_DIFF}>
          <DiffView {...(source satisfies DiffSource)} />
        </Suspense>
      ))}
      {files.length > 0 && (
        <ul className="text-xs">
          {files.map(({ path, kind }) => (
            <li key={`${kind} ${path}`} className="wrap-anywhere">
              <span className="chip">{WORDS[kind] ?? kind}</span>{' '}
              <bdi className="font-mono text-2xs">{path}</bdi>
            </li>
          ))}
        </ul>
      )}
      {diffs.length === 0 && files.length === 0 && <Preparing call={call} />}
      {!hasFailed && diffs.length === 0 && call.output && <Output call={call} run={run} />}
    </>
  );
}

/** Arguments that are still being written, or were too long to be kept. */
export function Preparing({ call }: { call: ToolCall }) {
  if (call.partialInput === null) {
    if (call.input !== null) return null;
    return (
      <Nothing>
        {call.state === 'preparing' ? 'The arguments are being written.' : 'The arguments are not known.'}
      </Nothing>
    );
  }
  const end = call.partialInput.slice(-600);
  return (
    <p className="wrap-anywhere max-h-24 overflow-hidden whitespace-pre-wrap font-mono text-2xs text-muted">
      {end.length < call.partialInput.length ? '…' : ''}
      {end}
    </p>
  );
}

export const edit: Card = {
  icon: FilePen,
  note: (call) => {
    const counts = deriveCounts(call);
    return counts && <DiffCounts {...counts} />;
  },
  isOpen: () => true,
  isSubjectInBody: (call) => {
    const { diffs, files } = deriveEdits(call);
    return diffs.length + files.length > 0;
  },
  Body: EditBody,
};
