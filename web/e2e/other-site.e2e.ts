import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTheatre } from './theatre';

const theatre = openTheatre();
/** What the other site was sent by browsers. */
const received: { cookie: string; authorization: string }[] = [];
let site: HttpServer;
let siteUrl: string;

beforeAll(async () => {
  site = createServer((request, response) => {
    const { cookie = '', authorization = '' } = request.headers;
    received.push({ cookie, authorization });
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><title>A preview</title><p>It works.</p>');
  });
  await new Promise<void>((done) => site.listen(0, '127.0.0.1', done));
  siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
});
afterAll(() => site.close());

test('a page on another port of this machine reads nothing and starts nothing', async () => {
  const { stage, server, visit } = theatre;
  const workspace = stage.workspace('victim', null);
  const run = await server.start(workspace);
  const visitor = await visit();
  visitor.expectFault(/.*/);
  await visitor.go(`/runs/${run}`);
  await visitor.activity.waitFor();
  const before = (await server.ask('GET', '/api/v1/runs')).items.length;

  const other = await visitor.context.newPage();
  await other.goto(siteUrl);
  const attacks = await other.evaluate(
    async ({ url, run, workspace }) => {
      const outcomes: Record<string, string> = {};
      const attempt = async (name: string, attack: () => Promise<string>) => {
        outcomes[name] = await attack().catch(() => 'refused');
      };
      const start = JSON.stringify({ workspace, prompt: 'Do evil.', once: true });
      const post = (path: string, init: RequestInit) => fetch(url + path, { method: 'POST', ...init });
      await attempt('fetch', async () => (await fetch(`${url}/api/v1/runs`)).text());
      await attempt('fetch with credentials', async () =>
        (await fetch(`${url}/api/v1/runs`, { credentials: 'include' })).text(),
      );
      await attempt('json post', async () =>
        (
          await post('/api/v1/runs', {
            credentials: 'include',
            headers: { 'content-type': 'application/json' },
            body: start,
          })
        ).text(),
      );
      await attempt('simple post', async () => {
        const init = { mode: 'no-cors', credentials: 'include', body: start } as const;
        const answer = await post('/api/v1/runs', init);
        return answer.type === 'opaque' ? 'refused' : answer.text();
      });
      await attempt('login', async () =>
        (await post('/api/v1/login-links', { credentials: 'include' })).text(),
      );
      await attempt(
        'websocket',
        () =>
          new Promise((done, refuse) => {
            const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/stream`);
            socket.onmessage = (event) => done(String(event.data));
            socket.onerror = () => refuse(new Error('refused'));
          }),
      );
      await attempt(
        'events',
        () =>
          new Promise((done, refuse) => {
            const source = new EventSource(`${url}/api/v1/runs/${run}/events?after=0`, {
              withCredentials: true,
            });
            source.onmessage = (event) => done(event.data);
            source.onerror = () => {
              source.close();
              refuse(new Error('refused'));
            };
          }),
      );
      await attempt(
        'iframe',
        () =>
          new Promise((done) => {
            const frame = document.createElement('iframe');
            frame.src = `${url}/runs/${run}`;
            frame.onload = () => {
              let words = 'refused';
              try {
                words = frame.contentDocument?.body.textContent ?? 'refused';
              } catch {
                // It is of another origin.
              }
              done(words === '' ? 'refused' : words);
            };
            document.body.append(frame);
          }),
      );
      await attempt('storage', async () => localStorage.getItem('ralph-session') ?? 'refused');
      return outcomes;
    },
    { url: server.url, run, workspace },
  );
  expect(new Set(Object.values(attacks)), JSON.stringify(attacks)).toEqual(new Set(['refused']));

  // A form takes the browser to the server: it shows a refusal, and nothing happens.
  await other.evaluate((url) => {
    const form = document.createElement('form');
    form.method = 'post';
    form.action = `${url}/api/v1/runs/x/stop`;
    document.body.append(form);
    form.submit();
  }, server.url);
  await other.waitForURL(/\/stop$/);
  expect(await other.textContent('body')).toContain('foreign_origin');

  // No secret has reached the other site, and what it could replay opens nothing.
  expect(received.length).toBeGreaterThan(0);
  for (const { cookie, authorization } of received) {
    expect([cookie, authorization]).toEqual(['', '']);
  }
  expect(await visitor.context.cookies()).toEqual([]);
  const key = await visitor.page.evaluate(() => localStorage.getItem('ralph-session'));
  const replay = await fetch(`${server.url}/api/v1/runs`, {
    headers: { cookie: `ralph_session=${key}`, origin: server.url, 'sec-fetch-site': 'same-origin' },
  });
  expect(replay.status).toBe(401);
  expect((await server.ask('GET', '/api/v1/runs')).items.length).toBe(before);
  await other.close();
});

test('two servers on one host name do not log each other out', async () => {
  const { visit } = theatre;
  const { Stage } = await import('./stage');
  const elsewhere = new Stage();
  try {
    const second = await elsewhere.serve();
    const visitor = await visit();
    visitor.expectFault(/foreign: /);
    await visitor.go('/');
    await visitor.page.getByRole('heading', { name: 'Runs' }).waitFor();
    const page = await visitor.context.newPage();
    await page.goto(second.loginLink);
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    await visitor.page.reload();
    await visitor.page.getByRole('heading', { name: 'Runs' }).waitFor();
    await page.close();
  } finally {
    elsewhere.close();
  }
});

test('a person sees where they are logged in, and logs other browsers and this one out', async () => {
  const { visit } = theatre;
  const [visitor, other] = [await visit(), await visit()];
  for (const each of [visitor, other]) each.expectFault(/status of 401|WebSocket connection/);
  await other.go('/');
  await other.page.getByRole('heading', { name: 'Runs' }).waitFor();
  await visitor.go('/');
  await visitor.button('Log out').click();
  const dialog = visitor.page.getByRole('dialog', { name: 'Login sessions' });
  await visitor.sees('(this browser)', dialog);
  await dialog.getByRole('button', { name: 'Log out all others' }).click();
  await other.page.getByRole('heading', { name: 'You are logged out' }).waitFor();
  await dialog.getByRole('button', { name: 'Log out this browser' }).click();
  await visitor.page.getByRole('heading', { name: 'You are logged out' }).waitFor();
  await visitor.page.reload();
  await visitor.page.getByRole('heading', { name: 'You are logged out' }).waitFor();
});
