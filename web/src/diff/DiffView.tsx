import { useMemo, useState } from 'react';
import '../code/code.css';
import './diff.css';
import { CopyButton } from '../code/CopyButton';
import { DiffHeader } from './DiffHeader';
import { FoldRow, PairRow, Rows, type SpansOf, UnifiedRow } from './DiffRows';
import type { Diff, DiffRow } from './derive-diff';
import { type DiffSource, deriveSource, highestNumber, openFolds, pathOf, textOfDiff } from './derive-source';
import { deriveSplit, type SplitRow } from './derive-split';
import { type DiffMode, useDiffMode } from './diff-mode';
import { useDiffSpans } from './use-diff-spans';

/** So many rows are shown at first, and so many more each time. */
const FIRST_ROWS = 120;
const MORE_ROWS = 400;

export type DiffViewProps = DiffSource & {
  /** As the person chose it, unless told otherwise. */
  mode?: DiffMode;
  /** Above the lines: which file, how much has changed. */
  hasHeader?: boolean;
};

/** What has changed in a file. */
export function DiffView({ mode, hasHeader = true, ...source }: DiffViewProps) {
  const chosen = useDiffMode();
  const shown = mode ?? (chosen.isWide ? chosen.mode : 'unified');
  const key = 'change' in source ? source.change : `${source.old}\0${source.new}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the source is made anew at every call, its content is in the key.
  const diff = useMemo(() => deriveSource(source), [key]);
  const path = pathOf(source);
  return (
    <div className="overflow-hidden rounded border border-line bg-sunken">
      {hasHeader && (
        <DiffHeader
          path={path}
          kind={'change' in source ? source.change.kind : null}
          diff={diff}
          canSplit={mode === undefined}
        >
          {diff && <CopyButton text={() => textOfDiff(diff)} label="Copy diff" />}
        </DiffHeader>
      )}
      {diff ? (
        <DiffBody diff={diff} path={path} mode={shown} />
      ) : (
        <p className="px-3 py-1 text-xs text-muted">The agent did not say what has changed in the file.</p>
      )}
    </div>
  );
}

function DiffBody({ diff, path, mode }: { diff: Diff; path: string; mode: DiffMode }) {
  const [opened, setOpened] = useState<ReadonlySet<DiffRow>>(new Set());
  const [most, setMost] = useState(FIRST_ROWS);
  const rows = useMemo(() => openFolds(diff.rows, opened), [diff, opened]);
  const spansOf = useDiffSpans(rows, path);
  const all: readonly (DiffRow | SplitRow)[] = useMemo(
    () => (mode === 'split' ? deriveSplit(rows) : rows),
    [rows, mode],
  );
  // A few rows more are no reason for a button.
  const count = all.length <= most + 20 ? all.length : most;
  const open = (fold: DiffRow) => setOpened(new Set(opened).add(fold));
  if (all.length === 0) return <p className="px-3 py-1 text-xs text-muted">Nothing has changed.</p>;
  return (
    <figure aria-label={`Changes in ${path}`}>
      <Rows mode={mode} highest={highestNumber(rows)}>
        {all.slice(0, count).map((row, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line is known by its place only.
          <AnyRow key={at} row={row} spansOf={spansOf} open={open} />
        ))}
      </Rows>
      {count < all.length && (
        <button type="button" className="more-button" onClick={() => setMost(most + MORE_ROWS)}>
          Show {Math.min(MORE_ROWS, all.length - count).toLocaleString('en')} more of{' '}
          {all.length.toLocaleString('en')} lines
        </button>
      )}
    </figure>
  );
}

interface AnyRowProps {
  row: DiffRow | SplitRow;
  spansOf: SpansOf;
  open: (fold: DiffRow) => void;
}

function AnyRow({ row, spansOf, open }: AnyRowProps) {
  if (row.kind === 'fold') return <FoldRow fold={row} open={() => open(row)} />;
  if (row.kind === 'note') return <div className="diff-fold">{row.text}</div>;
  if (row.kind === 'pair') return <PairRow row={row} spansOf={spansOf} />;
  return <UnifiedRow line={row} spansOf={spansOf} />;
}
