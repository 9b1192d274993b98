import { lazy, Suspense } from 'react';
import type { PermissionRequested } from '../../wire';
import { previewOf } from './derive-preview';

const DiffView = lazy(() => import('../../diff/DiffView').then((module) => ({ default: module.DiffView })));

/** What would be done. */
export function PreviewView({ asked }: { asked: PermissionRequested }) {
  const preview = previewOf(asked);
  if (!preview) {
    return asked.subject ? <code className="break-words font-mono text-xs">{asked.subject}</code> : null;
  }
  if (preview.as === 'diff') {
    return (
      <div className="mt-1 max-h-64 overflow-auto">
        <Suspense fallback={<p className="text-muted">{preview.path}</p>}>
          <DiffView path={preview.path} old={preview.old} new={preview.new} />
        </Suspense>
      </div>
    );
  }
  return (
    <figure
      tabIndex={0}
      aria-label={preview.as === 'command' ? 'Command' : 'Input'}
      className="mt-1 max-h-48 overflow-auto whitespace-pre-wrap break-words rounded border border-line bg-sunken px-2 py-1 font-mono text-xs"
    >
      {preview.text}
    </figure>
  );
}
