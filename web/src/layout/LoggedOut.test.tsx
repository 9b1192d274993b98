import { cleanup, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { loginState } from '../api/login-state';
import { sessionKey } from '../api/session-key';
import { problem, serve, show } from '../steer/page-for-tests';
import { LoggedOut } from './LoggedOut';

const { retryNow } = vi.hoisted(() => ({ retryNow: vi.fn() }));
vi.mock('../stream/browser', () => ({ stream: { retryNow } }));

const field = () => screen.findByLabelText<HTMLInputElement>('Server token');
const logIn = () => screen.getByRole<HTMLButtonElement>('button', { name: 'Log in' });

beforeEach(() => {
  retryNow.mockReset();
  loginState.set(true);
});
afterEach(cleanup);

test('the token logs in, and the page goes on', async () => {
  const bodies: unknown[] = [];
  serve({
    'POST /api/v1/login': (body) => {
      bodies.push(body);
      return { key: 'k1', id: 's1', scope: 'admin', expires_at: null };
    },
  });
  await show(<LoggedOut />);
  expect((await field()).type).toBe('password');
  expect(logIn().disabled).toBe(true);
  await userEvent.type(await field(), ' abc ');
  await userEvent.click(logIn());
  await waitFor(() => expect(loginState.isLoggedOut()).toBe(false));
  expect(bodies).toEqual([{ token: 'abc' }]);
  expect(sessionKey.read()).toBe('k1');
  expect(retryNow).toHaveBeenCalledOnce();
});

test('a wrong token says so, and can be corrected', async () => {
  serve({
    'POST /api/v1/login': () => problem(401, 'unauthenticated', 'this is not a token of this server'),
  });
  await show(<LoggedOut />);
  await userEvent.type(await field(), 'abc{Enter}');
  expect((await screen.findByRole('alert')).textContent).toContain('This is not a token of this server.');
  expect((await field()).getAttribute('aria-invalid')).toBe('true');
  expect(logIn().disabled).toBe(false);
  expect(loginState.isLoggedOut()).toBe(true);
  await userEvent.type(await field(), 'd');
  expect(screen.queryByRole('alert')).toBeNull();
});

test('who tried too often, and a server that is gone, are told what to do', async () => {
  serve({ 'POST /api/v1/login': () => problem(429, 'rate_limited', 'too many wrong secrets') });
  await show(<LoggedOut />);
  await userEvent.type(await field(), 'abc{Enter}');
  expect((await screen.findByRole('alert')).textContent).toContain('Wait a little');
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('gone')));
  await userEvent.click(logIn());
  await waitFor(() => expect(screen.getByRole('alert').textContent).toContain('does not answer'));
});
