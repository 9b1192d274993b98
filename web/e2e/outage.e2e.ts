import { expect, test } from 'vitest';
import { init, isFinished, StreamedText } from './dialect';
import { Script } from './script';
import { openTheatre } from './theatre';
import { Visitor } from './visitor';

const theatre = openTheatre();

/** The browser itself says when a server cannot be reached. */
const LOST = /ERR_CONNECTION_REFUSED|WebSocket connection|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET/;

test('a server that dies in the middle of a text and comes back costs nothing of it', async () => {
  const { stage, server, visit } = theatre;
  const words = Array.from({ length: 600 }, (_, at) => `word-${at} `);
  const streamed = new StreamedText();
  const part = (from: number, to: number) => words.slice(from, to).map((word) => streamed.piece(word));
  const script = new Script()
    .readLine()
    .emit(init(), ...streamed.begin(), ...part(0, 200))
    .waitForFile(stage.path('while-away'))
    .emit(...part(200, 400))
    .createFile(stage.path('was-away'))
    .waitForFile(stage.path('back'))
    .emit(...part(400, 600), ...streamed.end())
    .and(isFinished());
  const run = await server.start(stage.workspace('dies', script));
  const visitor = await visit();
  visitor.expectFault(LOST);
  await visitor.go(`/runs/${run}`);
  await visitor.sees('word-199', visitor.activity);
  // Parts of the page that come when they are needed have come.
  await visitor.page.waitForLoadState('networkidle');
  await server.kill();
  await visitor.sees('No connection to the server.');
  await visitor.button('Try now').waitFor();
  stage.open('while-away');
  theatre.server = await stage.serve(server.port);
  await visitor.sees('word-399', visitor.activity);
  await visitor.page.getByText('No connection to the server.').waitFor({ state: 'detached' });
  stage.open('back');
  await visitor.sees('word-599', visitor.activity);
  await visitor.sees('Completed');
  const row = visitor.activity.getByRole('article').filter({ hasText: 'word-0 ' });
  const block = stage.journal(run).find(({ event }) => event.type === 'text_block');
  const shown = (await row.getByRole('paragraph').first().textContent())?.trim();
  expect(shown).toBe(String(block?.event.data.text).trim());
  expect(shown).toBe(words.join('').trim());
});

test('the link of the server logs a browser in, once', async () => {
  const { browser, visit } = theatre;
  const { server } = theatre;
  const visitor = await visit({ isStranger: true });
  visitor.expectFault(/status of 40[13]|WebSocket connection/);
  await visitor.go('/');
  await visitor.page.getByRole('heading', { name: 'You are logged out' }).waitFor();
  await visitor.sees('ralph serve --open');
  await visitor.page.goto(server.loginLink);
  await visitor.page.getByRole('heading', { name: 'Runs' }).waitFor();
  expect(visitor.page.url()).toBe(`${server.url}/`);
  const other = await Visitor.come(browser, server, { isStranger: true });
  other.expectFault(/status of 40/);
  await other.page.goto(server.loginLink);
  expect(await other.page.getByRole('heading', { name: 'Runs' }).count()).toBe(0);
  await other.leave();
});

test('a login that ends says so, and what to do', async () => {
  const { server, visit } = theatre;
  const visitor = await visit();
  visitor.expectFault(/status of 401|WebSocket connection/);
  await visitor.go('/');
  await visitor.page.getByRole('heading', { name: 'Runs' }).waitFor();
  const answer = await visitor.context.request.post(`${server.url}/api/v1/logout`, {
    headers: { origin: server.url },
  });
  expect(answer.ok()).toBe(true);
  await visitor.page.getByRole('heading', { name: 'You are logged out' }).waitFor();
  await visitor.sees('Nothing happens to your runs.');
});
