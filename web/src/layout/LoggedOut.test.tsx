import { cleanup, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { loginState } from '../api/login-state';
import { problem, serve, show } from '../steer/page-for-tests';
import { LoggedOut } from './LoggedOut';

const { retryNow } = vi.hoisted(() => ({ retryNow: vi.fn() }));
vi.mock('../stream/browser', () => ({ stream: { retryNow } }));

const field = () => screen.findByLabelText<HTMLInputElement>('Token of the server');
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
      return new Response(null, { status: 204 });
    },
  });
  await show(<LoggedOut />);
  expect((await field()).type).toBe('password');
  expect(logIn().disabled).toBe(true);
  await userEvent.type(await field(), ' abc ');
  await userEvent.click(logIn());
  await waitFor(() => expect(loginState.isLoggedOut()).toBe(false));
  expect(bodies).toEqual([{ token: 'abc' }]);
  expect(retryNow).toHaveBeenCalledOnce();
});

test('a wrong token says so, and can be corrected', async () => {
  serve({ 'POST /api/v1/login': () => problem(401, 'unauthenticated', 'this is not the server’s token') });
  await show(<LoggedOut />);
  await userEvent.type(await field(), 'abc{Enter}');
  expect((await screen.findByRole('alert')).textContent).toContain('This is not the server’s token.');
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
