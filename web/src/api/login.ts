import { api } from './client';
import { ApiError, errorOf, unreachable } from './error';
import { loginState } from './login-state';
import { sessionKey } from './session-key';

/** Exchanges a code or a token for a session, and keeps its key. */
export async function logIn(secret: { code: string } | { token: string }): Promise<void> {
  const answer = await api.POST('/api/v1/login', { body: secret }).catch(() => {
    throw unreachable();
  });
  if (!answer.response.ok || !answer.data) throw errorOf(answer.response.status, answer.error);
  sessionKey.store(answer.data.key);
}

/** Ends this browser's session. It is forgotten here even if the server cannot be reached. */
export async function logOut(): Promise<void> {
  await api.POST('/api/v1/logout').catch(() => {});
  sessionKey.clear();
  loginState.set(true);
}

/** The code in the address of a login link. */
export function codeOf(path: string, hash: string): string | null {
  return path === '/login' ? new URLSearchParams(hash.slice(1)).get('code') : null;
}

/** The page that a login link leads to: the run that it names, or all runs. */
export function pageOf(hash: string): string {
  const run = new URLSearchParams(hash.slice(1)).get('run');
  return run === null || run === '' ? '/' : `/runs/${encodeURIComponent(run)}`;
}

/**
 * Logs in with the code in the address, if there is one. It is taken out of the address first, so that it is neither in
 * the history nor in what a person copies. Why it failed is left in the address: see `loginReason`.
 */
export async function logInByAddress(): Promise<void> {
  const code = codeOf(location.pathname, location.hash);
  if (code === null) return;
  const page = pageOf(location.hash);
  history.replaceState(null, '', page);
  try {
    await logIn({ code });
  } catch (error) {
    const isTooOften = error instanceof ApiError && error.code === 'rate_limited';
    history.replaceState(null, '', `${page}?login=${isTooOften ? 'wait' : 'used'}`);
  }
}
