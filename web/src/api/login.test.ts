import { afterEach, expect, test, vi } from 'vitest';
import { codeOf, logInByAddress, logOut, pageOf } from './login';
import { loginState } from './login-state';
import { authorization, sessionKey } from './session-key';

afterEach(() => {
  vi.unstubAllGlobals();
  sessionKey.clear();
  loginState.set(false);
  history.replaceState(null, '', '/');
});

const json = (status: number, body: unknown) =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });

test('only a login link has a code', () => {
  expect(codeOf('/login', '#code=abc')).toBe('abc');
  expect(codeOf('/login', '')).toBeNull();
  expect(codeOf('/', '#code=abc')).toBeNull();
});

test('the code leaves the address before it is sent, and the key is kept and sent as a bearer', async () => {
  history.replaceState(null, '', '/login#code=abc');
  const addresses: string[] = [];
  vi.stubGlobal('fetch', async (request: Request) => {
    addresses.push(location.href);
    expect(await request.json()).toEqual({ code: 'abc' });
    return json(201, { key: 'k1', id: 's', scope: 'admin', expires_at: null });
  });
  await logInByAddress();
  expect(addresses).toHaveLength(1);
  expect(addresses[0]).not.toContain('abc');
  expect(authorization()).toEqual({ authorization: 'Bearer k1' });
  expect(localStorage.getItem('ralph-session')).toBe('k1');
});

test('a login link that names a run leads to it, and to nothing outside the page', async () => {
  expect(pageOf('#code=abc')).toBe('/');
  expect(pageOf('#code=abc&run=')).toBe('/');
  expect(pageOf('#code=abc&run=//evil.example/..')).toBe('/runs/%2F%2Fevil.example%2F..');
  history.replaceState(null, '', '/login#code=abc&run=20261118-a1');
  vi.stubGlobal('fetch', async () => json(201, { key: 'k1', id: 's', scope: 'admin', expires_at: null }));
  await logInByAddress();
  expect(location.pathname + location.search + location.hash).toBe('/runs/20261118-a1');
});

test('a code that was used says so in the address and forgets no session', async () => {
  sessionKey.store('k0');
  history.replaceState(null, '', '/login#code=abc');
  vi.stubGlobal('fetch', async () => json(401, { code: 'unauthenticated', detail: 'used' }));
  await logInByAddress();
  expect(location.search).toBe('?login=used');
  expect(sessionKey.read()).toBe('k0');
});

test('logging out forgets the key even if the server is gone', async () => {
  sessionKey.store('k0');
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('gone')));
  await logOut();
  expect(sessionKey.read()).toBeNull();
  expect(authorization()).toEqual({});
  expect(loginState.isLoggedOut()).toBe(true);
});
