import { chooseDiffMode, useDiffMode } from './diff-mode';

/** Shows diffs the other way; nothing where there is no room for two texts side by side. */
export function DiffModeButton({ className }: { className: string }) {
  const { mode, isWide } = useDiffMode();
  if (!isWide) return null;
  return (
    <button
      type="button"
      className={className}
      onClick={() => chooseDiffMode(mode === 'split' ? 'unified' : 'split')}
    >
      {mode === 'split' ? 'One below the other' : 'Side by side'}
    </button>
  );
}
