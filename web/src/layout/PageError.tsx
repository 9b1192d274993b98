import type { ErrorComponentProps } from '@tanstack/react-router';

/** The last resort: a fault in the page itself. Never a blank page. */
export function PageError({ error, reset }: ErrorComponentProps) {
  return (
    <div className="p-6" role="alert">
      <h1 className="mb-2 font-semibold text-lg">This page has a fault</h1>
      <p className="mb-3 text-muted">
        The run itself is not affected: it goes on, and everything is written down. Try again, or reload the
        page.
      </p>
      <pre className="mb-3 overflow-auto rounded bg-sunken p-3 font-mono text-xs">{String(error)}</pre>
      <div className="flex gap-2">
        <button type="button" className="button" onClick={reset}>
          Try again
        </button>
        {/* A server that was upgraded has other files than this page knows. */}
        <button type="button" className="button" onClick={() => location.reload()}>
          Reload the page
        </button>
      </div>
    </div>
  );
}
