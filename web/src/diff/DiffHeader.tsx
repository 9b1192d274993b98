import type { ReactNode } from 'react';
import type { ChangeKind } from '../wire';
import { DiffModeButton } from './DiffModeButton';
import type { Diff } from './derive-diff';

const KINDS: Record<ChangeKind, string> = {
  added: 'new file',
  modified: '',
  deleted: 'deleted',
  moved: 'moved',
};

interface DiffHeaderProps {
  path: string;
  kind: ChangeKind | null;
  diff: Diff | null;
  canSplit: boolean;
  children: ReactNode;
}

/** Which file, how much has changed, and how it is shown. */
export function DiffHeader({ path, kind, diff, canSplit, children }: DiffHeaderProps) {
  const word = kind ? KINDS[kind] : '';
  return (
    <div className="flex min-h-7 items-center gap-2 border-b border-line bg-raised pl-3 pr-1 text-xs">
      <span className="min-w-0 truncate font-mono text-2xs" title={path}>
        <bdi>{path}</bdi>
      </span>
      {word && <span className="chip">{word}</span>}
      {diff && <DiffCounts added={diff.added} removed={diff.removed} />}
      <span className="flex-1" />
      {canSplit && (
        <DiffModeButton className="rounded px-1.5 text-2xs text-muted hover:bg-hover hover:text-ink" />
      )}
      {children}
    </div>
  );
}

export function DiffCounts({ added, removed }: { added: number; removed: number }) {
  return (
    <span className="whitespace-nowrap font-mono text-2xs">
      <span className="text-ok">+{added.toLocaleString('en')}</span>{' '}
      <span className="text-bad">−{removed.toLocaleString('en')}</span>
      <span className="sr-only"> lines</span>
    </span>
  );
}
