import { afterEach, expect, test, vi } from 'vitest';
import { api, probe, unwrap } from './client';
import { ApiError, errorOf } from './error';
import { loginState } from './login-state';
import { fileOfAttempt } from './raw';
import { serverNow } from './server-clock';

afterEach(() => {
  vi.unstubAllGlobals();
  loginState.set(false);
});

function answer(status: number, body: unknown, type = 'application/json'): void {
  const respond = async () =>
    new Response(JSON.stringify(body), { status, headers: { 'content-type': type } });
  vi.stubGlobal('fetch', respond);
}

const ask = () => unwrap(api.GET('/api/v1/runs', {}));

test('an answer is its data', async () => {
  answer(200, { items: [] });
  expect(await ask()).toEqual({ items: [] });
});

test('a problem says what to do in its own words', async () => {
  const problem = { code: 'run_not_found', detail: 'no such run' };
  answer(404, problem, 'application/problem+json');
  await expect(ask()).rejects.toBeInstanceOf(ApiError);
  await expect(ask()).rejects.toMatchObject({
    status: 404,
    code: 'run_not_found',
    message: 'no such run',
    problem,
  });
});

test('who is not logged in is told so everywhere', async () => {
  answer(401, { code: 'unauthenticated', detail: 'log in' }, 'application/problem+json');
  expect(await probe()).toBe('logged_out');
  expect(loginState.isLoggedOut()).toBe(true);
});

test('a server that is gone is an error that says so', async () => {
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('failed')));
  await expect(ask()).rejects.toMatchObject({ status: 0, code: 'unreachable' });
  expect(await probe()).toBe('gone');
});

test('an answer of something else than the server is an error, too', () => {
  expect(errorOf(502, '<html>')).toMatchObject({ status: 502, code: 'unreadable' });
  expect(errorOf(502, null)).toMatchObject({ code: 'unreadable' });
});

test('an answer says what time it is at the server', async () => {
  const headers = {
    'content-type': 'application/json',
    date: new Date(Date.now() + 3_600_000).toUTCString(),
  };
  vi.stubGlobal('fetch', async () => new Response('{"items":[]}', { headers }));
  await ask();
  expect(Math.abs(serverNow() - Date.now() - 3_600_000)).toBeLessThan(2_000);
});

test('the file of a process is in the name of its log', () => {
  expect(fileOfAttempt('raw/12.ndjson')).toBe(12);
  expect(fileOfAttempt('elsewhere')).toBeNull();
});
