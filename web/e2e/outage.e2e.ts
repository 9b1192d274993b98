import { expect, test } from 'vitest';
import { init, isFinished, StreamedText, text } from './dialect';
import { Script } from './script';
import { openTheatre } from './theatre';

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
  const shown = (await row.getByRole('paragraph').first().textContent())?.trim();
  expect(shown).toBe(words.join('').trim());
});

test('the link of the server logs a browser in, once', async () => {
  const { server, visit } = theatre;
  const visitor = await visit({ isStranger: true });
  visitor.expectFault(/status of 40[13]|WebSocket connection/);
  await visitor.go('/');
  await visitor.page.getByRole('heading', { name: 'You are logged out' }).waitFor();
  await visitor.sees('ralph serve --open');
  await visitor.page.goto(server.loginLink);
  await visitor.page.getByRole('heading', { name: 'Runs' }).waitFor();
  expect(visitor.page.url()).toBe(`${server.url}/`);
  // Who has a session already has no need of it.
  await visitor.page.goto(server.loginLink);
  await visitor.page.getByRole('heading', { name: 'Runs' }).waitFor();
});

test('a login link that was used leads to the page, where the token logs in', async () => {
  const { server, visit } = theatre;
  const answer = await server.ask('POST', '/api/v1/login-links');
  const first = await visit({ isStranger: true });
  await first.page.goto(answer.url);
  await first.page.getByRole('heading', { name: 'Runs' }).waitFor();
  const visitor = await visit({ isStranger: true });
  visitor.expectFault(/status of 401|WebSocket connection/);
  await visitor.page.goto(answer.url);
  await visitor.page.getByRole('heading', { name: 'You are logged out' }).waitFor();
  await visitor.sees(/works once, for ten minutes/);
  await visitor.page.getByLabel('Server token').fill('not the token');
  await visitor.button('Log in').click();
  await visitor.sees(/This is not a token of this server/);
  await visitor.page.getByLabel('Server token').fill(server.token);
  await visitor.button('Log in').click();
  await visitor.page.getByRole('heading', { name: 'Runs' }).waitFor();
  await expect.poll(() => visitor.page.url()).toBe(`${server.url}/`);
});

test('whoever starts a server where one runs already gets a new link to that one', async () => {
  const { stage, server, visit } = theatre;
  const said = stage.run(['serve', '--port', String(server.port)]);
  const link = said.match(/(http:\/\/\S+\/login#code=\S+)/)?.[1];
  expect(said).toContain(`a server is already listening on ${server.url}`);
  const visitor = await visit({ isStranger: true });
  await visitor.page.goto(link ?? '');
  await visitor.page.getByRole('heading', { name: 'Runs' }).waitFor();
});

test('a login that ends says so, and the page goes on where it was with the token', async () => {
  const { stage, server, visit } = theatre;
  const script = new Script()
    .readLine()
    .emit(init(), text('Before the login ended.'))
    .waitForFile(stage.path('logged-in'))
    .emit(text('After it was back.'))
    .and(isFinished());
  const run = await server.start(stage.workspace('login', script));
  const visitor = await visit();
  visitor.expectFault(/status of 401|WebSocket connection/);
  await visitor.go(`/runs/${run}`);
  await visitor.sees('Before the login ended.', visitor.activity);
  await server.ask('DELETE', '/api/v1/login-sessions');
  await visitor.page.getByRole('heading', { name: 'You are logged out' }).waitFor();
  await visitor.sees(/Your runs keep running/);
  await visitor.page.getByLabel('Server token').fill(server.token);
  await visitor.button('Log in').click();
  await visitor.sees('Before the login ended.', visitor.activity);
  expect(visitor.page.url()).toBe(`${server.url}/runs/${run}`);
  stage.open('logged-in');
  await visitor.sees('After it was back.', visitor.activity);
  await visitor.sees('Completed');
});

test('a part of the page that cannot be loaded says so, and comes with the page', async () => {
  const { stage, server, visit } = theatre;
  const run = await server.start(
    stage.workspace('parts', new Script().readLine().emit(init()).and(isFinished())),
  );
  const visitor = await visit();
  visitor.expectFault(/ERR_FAILED|dynamically imported module|PartMissing|A part of the page/);
  const part = /\/assets\/FilesView-.*\.js$/;
  await visitor.page.route(part, (route) => route.abort());
  await visitor.go(`/runs/${run}?view=files`);
  await visitor.sees('A part of the page could not be loaded');
  await visitor.page.unroute(part);
  await visitor.button('Reload the page').click();
  await visitor.sees(/No tool call has reported a changed file/);
});
