import type { ErrorComponentProps } from '@tanstack/react-router';
import { PartMissing } from './lazy-part';

/** The last resort: a fault in the page itself, or a part of it that is not to be had. Never a blank page. */
export function PageError({ error, reset }: ErrorComponentProps) {
  const isMissing = error instanceof PartMissing;
  return (
    <div className="p-6" role="alert">
      <h1 className="mb-2 font-semibold text-lg">
        {isMissing ? 'A part of the page could not be loaded' : 'This page has a fault'}
      </h1>
      <p className="mb-3 text-muted">
        {isMissing
          ? 'The server is away, or was updated. Your runs go on all the same; what you typed is kept. Reload the page.'
          : 'The run itself is not affected: it goes on, and everything is written down. Try again, or reload the page.'}
      </p>
      {!isMissing && (
        <pre className="mb-3 overflow-auto rounded bg-sunken p-3 font-mono text-xs">{String(error)}</pre>
      )}
      <div className="flex gap-2">
        {!isMissing && (
          <button type="button" className="button" onClick={reset}>
            Try again
          </button>
        )}
        <button type="button" className="button" onClick={() => location.reload()}>
          Reload the page
        </button>
      </div>
    </div>
  );
}
