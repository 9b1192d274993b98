import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useId, useState } from 'react';
import { logIn } from '../api/login';
import { loginState } from '../api/login-state';
import { problemWords } from '../steer/derive-problem';
import { stream } from '../stream/browser';
import { loginReason, openCommand } from './derive-login';

/** Shown instead of everything else when the server does not know this browser. */
export function LoggedOut() {
  const reason = loginReason(location.search);
  return (
    <main className="mx-auto mt-16 max-w-lg p-6 max-sm:mt-4">
      <h1 className="mb-2 font-semibold text-xl">You are logged out</h1>
      {reason && (
        <p role="status" className="mb-3 text-warn">
          {reason}
        </p>
      )}
      <p className="mb-4 text-muted">
        This browser has no session with the server, or its session has ended. Your runs keep running.
      </p>
      <TokenForm isByLink={reason !== null} />
      <p className="mt-6 mb-3">
        Or run{' '}
        <code className="break-words rounded bg-sunken px-1 font-mono">{openCommand(location.port)}</code> in
        a terminal: it gives you a new login link, even if the server is running already.
      </p>
      <button type="button" className="button" onClick={() => globalThis.location.reload()}>
        Try again
      </button>
    </main>
  );
}

function TokenForm({ isByLink }: { isByLink: boolean }) {
  const [token, setToken] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const id = useId();
  const submit = async () => {
    setBusy(true);
    setProblem(null);
    try {
      await logIn({ token: token.trim() });
    } catch (error) {
      setBusy(false);
      setProblem(problemWords(error));
      return;
    }
    // The page goes on where it was; what the link said of itself is over.
    if (isByLink) await navigate({ to: '/', replace: true });
    loginState.set(false);
    stream.retryNow();
    void queries.invalidateQueries();
  };
  return (
    <form
      className="grid gap-1"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy && token.trim() !== '') void submit();
      }}
    >
      <label htmlFor={id} className="font-medium">
        Server token
      </label>
      <div className="flex gap-2">
        <input
          id={id}
          type="password"
          className="field min-w-0 flex-1 font-mono"
          autoComplete="off"
          spellCheck={false}
          value={token}
          aria-invalid={problem !== null}
          aria-describedby={`${id}-told`}
          onChange={(event) => {
            setToken(event.target.value);
            setProblem(null);
          }}
        />
        <button type="submit" className="button" data-primary disabled={isBusy || token.trim() === ''}>
          {isBusy ? 'Logging in…' : 'Log in'}
        </button>
      </div>
      <div id={`${id}-told`} className="text-xs">
        {problem && (
          <p role="alert" className="text-bad">
            {problem}
          </p>
        )}
        <p className="text-muted">
          The server token is in the file{' '}
          <code className="break-words font-mono">~/.local/state/ralph/server-token</code>. A token of{' '}
          <code className="font-mono">ralph token create</code> works, too.
        </p>
      </div>
    </form>
  );
}
