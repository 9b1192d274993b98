import createClient from 'openapi-fetch';
import { ApiError, errorOf, unreachable } from './error';
import { loginState } from './login-state';
import type { components, paths } from './schema';
import { serverClock } from './server-clock';
import { authorization } from './session-key';

export type Schemas = components['schemas'];
export type Run = Schemas['Run'];
export type RunPage = Schemas['RunPage'];
export type Found = Schemas['Found'];
export type FoundRecord = Schemas['FoundRecord'];
export type Backend = Schemas['Backend'];
export type LoginSession = Schemas['LoginSession'];

/** Asks the server that the page came from, with the key of this browser's session. */
export const api = createClient<paths>({
  baseUrl: globalThis.location?.origin ?? '',
  fetch: async (request) => {
    const sent = Date.now();
    for (const [name, value] of Object.entries(authorization())) request.headers.set(name, value);
    // Looked up anew each time, so that tests can put another one in its place.
    const response = await globalThis.fetch(request);
    serverClock.note(response.headers.get('date'), sent, Date.now());
    return response;
  },
});

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** The data of an answer; throws an `ApiError` otherwise. */
export async function unwrap<T>(asked: Promise<Answer<T>>): Promise<T> {
  let answer: Answer<T>;
  try {
    answer = await asked;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw unreachable();
  }
  const { response } = answer;
  if (response.ok && answer.data !== undefined) {
    loginState.set(false);
    return answer.data;
  }
  throw noteLogin(errorOf(response.status, answer.error));
}

/** Tells the page when an error means that nobody is logged in. */
export function noteLogin(error: ApiError): ApiError {
  if (error.isLoggedOut) loginState.set(true);
  return error;
}

/** Whether the server can be reached and lets this browser in. */
export async function probe(): Promise<'ok' | 'logged_out' | 'gone'> {
  try {
    await unwrap(api.GET('/api/v1/runs', { params: { query: { limit: 1 } } }));
    return 'ok';
  } catch (error) {
    return error instanceof ApiError && error.isLoggedOut ? 'logged_out' : 'gone';
  }
}
