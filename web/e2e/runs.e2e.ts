import { expect, test } from 'vitest';
import { isFinished, toolResult, toolUse, works } from './dialect';
import { openTheatre } from './theatre';

const theatre = openTheatre();

test('a run appears in the list by itself, and its state is live', async () => {
  const { stage, server, visit } = theatre;
  const visitor = await visit();
  await visitor.go('/');
  await visitor.sees('No runs yet');
  expect(await visitor.page.getByRole('link', { name: 'New run' }).count()).toBe(2);
  const script = works()
    .emit(toolUse('t1', 'Bash', { command: 'paint --colour "green"' }))
    .waitForFile(stage.path('live-gate'))
    .emit(toolResult('t1', 'done'))
    .and(isFinished());
  const workspace = stage.workspace('live', script);
  const run = await server.start(workspace, { prompt: 'Paint the fence.' });
  const link = visitor.page.locator(`a[data-run="${run}"]`);
  await link.waitFor();
  await visitor.sees('Paint the fence.', link);
  await visitor.sees('Running Bash: paint --colour "green"', link);
  const began = await link.getByRole('time').getAttribute('datetime');
  expect(Date.now() - Date.parse(began ?? '')).toBeLessThan(600_000);
  stage.open('live-gate');
  await link.getByText('Completed').waitFor();
  expect(await visitor.page.title()).toBe('Runs · ralph');
});

test('filters are kept in the address', async () => {
  const { stage, server, visit } = theatre;
  const done = await server.start(stage.workspace('done', works().and(isFinished())));
  const goesOn = await server.start(
    stage.workspace('goes-on', works().waitForFile(stage.path('filter-gate')).and(isFinished())),
  );
  await server.becomes(done, 'ended');
  const visitor = await visit();
  await visitor.go('/');
  const link = (run: string) => visitor.page.locator(`a[data-run="${run}"]`);
  await link(goesOn).waitFor();
  await visitor.button('Ended').click();
  await link(goesOn).waitFor({ state: 'detached' });
  await link(done).waitFor();
  expect(new URL(visitor.page.url()).search).toBe('?state=ended');
  await visitor.page.reload();
  await link(done).waitFor();
  expect(await link(goesOn).count()).toBe(0);
  await visitor.button('Active').click();
  await link(goesOn).waitFor();
  await link(done).waitFor({ state: 'detached' });
  await visitor.button('Waiting for you').click();
  await visitor.sees('No run is like that');
  await visitor.button('Show all runs').click();
  await visitor.page.getByRole('combobox', { name: 'Workspace' }).selectOption({ label: '…/projects/done' });
  await link(goesOn).waitFor({ state: 'detached' });
  await link(done).waitFor();
  stage.open('filter-gate');
});

test('a new run is checked before it starts, and a double click starts one', async () => {
  const { stage, server, visit } = theatre;
  const workspace = stage.workspace('fresh', works().waitForFile(stage.path('new-gate')).and(isFinished()));
  const before = (await server.ask('GET', '/api/v1/runs')).items.length;
  const visitor = await visit();
  await visitor.go('/');
  await visitor.page.getByRole('link', { name: 'New run' }).click();
  const dialog = visitor.page.getByRole('dialog', { name: 'New run' });
  const place = dialog.getByRole('combobox', { name: 'Workspace' });
  await dialog.getByRole('radio', { name: /^Loop/ }).check();
  await dialog.getByRole('radio', { name: /^Claude(?! \()/ }).check();
  await place.fill('relative/path');
  const start = dialog.getByRole('button', { name: 'Start the run' });
  await start.click();
  await visitor.sees('This must be an absolute path', dialog);
  await visitor.sees('A loop needs something to do.', dialog);
  await expect.poll(() => place.evaluate((field) => field === document.activeElement)).toBe(true);
  await place.fill(workspace);
  await dialog.getByRole('textbox', { name: 'Prompt' }).fill('Mow the lawn.');
  await dialog.getByRole('textbox', { name: 'Iterations at most' }).fill('many');
  await start.click();
  await visitor.sees('A whole number, at least 1.', dialog);
  await dialog.getByRole('textbox', { name: 'Iterations at most' }).fill('2');
  await start.dblclick();
  await visitor.page.getByRole('heading', { name: 'Mow the lawn.' }).waitFor();
  await visitor.sees('Working.', visitor.activity);
  expect((await server.ask('GET', '/api/v1/runs')).items.length).toBe(before + 1);
  stage.open('new-gate');
});

test('a run can be started, read and left by keys alone', async () => {
  const { stage, server, visit } = theatre;
  const run = await server.start(stage.workspace('keys', works().and(isFinished())), { prompt: 'By keys.' });
  await server.becomes(run, 'ended');
  const visitor = await visit();
  await visitor.go('/');
  await visitor.page.locator(`a[data-run="${run}"]`).waitFor();
  await visitor.press('?');
  const overlay = visitor.page.getByRole('dialog', { name: 'Keys' });
  await visitor.sees('Find in this run', overlay);
  await visitor.press('Escape');
  await overlay.waitFor({ state: 'hidden' });
  await visitor.press('j');
  const focused = () => visitor.page.evaluate(() => document.activeElement?.getAttribute('data-run'));
  for (let step = 0; (await focused()) !== run && step < 10; step += 1) await visitor.press('j');
  await visitor.press('Enter');
  await visitor.page.getByRole('heading', { name: 'By keys.' }).waitFor();
  await visitor.press('/');
  const find = visitor.page.getByRole('searchbox', { name: 'Find in this run' });
  await find.waitFor();
  await visitor.page.keyboard.type('Working');
  await visitor.sees(/^1 record/);
  await visitor.press('Enter', 'Escape');
  await find.waitFor({ state: 'detached' });
  await visitor.press('f');
  await visitor.sees('No tool call has reported a changed file');
  await visitor.press('f', 'g', 'g');
  await visitor.sees('Iteration 1', visitor.activity);
  await visitor.press('g', 'r');
  await visitor.page.getByRole('heading', { name: 'Runs' }).waitFor();
});
