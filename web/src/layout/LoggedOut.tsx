/** Shown instead of everything else when the server does not know this browser. */
export function LoggedOut() {
  return (
    <main className="mx-auto mt-16 max-w-lg p-6">
      <h1 className="mb-2 font-semibold text-xl">You are logged out</h1>
      <p className="mb-3 text-muted">
        This browser has no session with the server, or its session has ended. Nothing happens to your runs.
      </p>
      <ul className="mb-4 list-disc space-y-1 pl-5">
        <li>
          Run <code className="rounded bg-sunken px-1 font-mono">ralph serve --open</code> in a terminal, or
        </li>
        <li>open the login link that the server printed when it started.</li>
      </ul>
      <button type="button" className="button" onClick={() => location.reload()}>
        Try again
      </button>
    </main>
  );
}
