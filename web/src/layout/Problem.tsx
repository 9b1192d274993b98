import { TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';

/** Something went wrong: what, and what to do next. */
export function Problem({
  title,
  children,
  onRetry,
}: {
  title: string;
  children?: ReactNode;
  onRetry?: () => void;
}) {
  return (
    <div role="alert" className="m-4 max-w-2xl rounded-lg border border-bad bg-bad-soft p-4">
      <p className="flex items-center gap-2 font-semibold text-bad">
        <TriangleAlert aria-hidden className="size-4 shrink-0" />
        {title}
      </p>
      <div className="mt-1 break-words">{children}</div>
      {onRetry && (
        <button type="button" className="button mt-3" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}
