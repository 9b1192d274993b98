import { expect, test } from 'vitest';
import { init, isFinished, result, text, toolResult, toolUse, works } from './dialect';
import { Script } from './script';
import { openTheatre } from './theatre';

const theatre = openTheatre();

test('what a subagent does is under the call that started it, and can be folded', async () => {
  const { stage, server, visit } = theatre;
  const script = works()
    .emit(
      toolUse('task', 'Task', { description: 'Look around', prompt: 'Find it.', subagent_type: 'Explore' }),
    )
    .emit(text('I am the subagent.', undefined, 'task'))
    .emit(
      toolUse('inner', 'Bash', { command: 'ls inner' }, 'task'),
      toolResult('inner', 'found', { parent: 'task' }),
    )
    .emit(toolResult('task', [{ type: 'text', text: 'It is there.' }]))
    .and(isFinished());
  const run = await server.start(stage.workspace('subagent', script));
  const visitor = await visit();
  await visitor.go(`/runs/${run}`);
  await visitor.sees('I am the subagent.', visitor.activity);
  const fold = visitor.activity.getByRole('button', { name: /steps of the subagent/ });
  await fold.click();
  await visitor.activity.getByText('I am the subagent.').waitFor({ state: 'detached' });
  await fold.click();
  await visitor.sees('ls inner', visitor.activity);
});

test('a subagent of a subagent is under it, and folds with it', async () => {
  const { stage, server, visit } = theatre;
  const task = (id: string, description: string, parent: string | null = null) =>
    toolUse(id, 'Task', { description, prompt: 'Do it.', subagent_type: 'Explore' }, parent);
  const script = works()
    .emit(task('outer', 'Survey the house'), text('I am the first.', undefined, 'outer'))
    .emit(task('inner', 'Survey the attic', 'outer'), text('I am the second.', undefined, 'inner'))
    .emit(toolUse('deep', 'Bash', { command: 'ls attic' }, 'inner'))
    .emit(toolResult('deep', 'a chest', { parent: 'inner' }))
    .emit(
      toolResult('inner', 'There is a chest.', { parent: 'outer' }),
      toolResult('outer', 'All is surveyed.'),
    )
    .and(isFinished());
  const run = await server.start(stage.workspace('nested', script));
  await server.becomes(run, 'ended');
  const visitor = await visit();
  await visitor.go(`/runs/${run}`);
  const row = (words: string) =>
    visitor.activity.getByRole('article').filter({ hasText: words }).filter({ hasNotText: 'Do it.' });
  const left = async (words: string) => (await row(words).last().boundingBox())?.x ?? 0;
  await visitor.sees('ls attic', visitor.activity);
  expect(await left('I am the first.')).toBeLessThan(await left('I am the second.'));
  const folds = visitor.activity.getByRole('button', { name: /steps? of the subagent/ });
  expect(await folds.count()).toBe(2);
  await folds.last().click();
  await visitor.activity.getByText('I am the second.').waitFor({ state: 'detached' });
  await visitor.sees('I am the first.', visitor.activity);
  await folds.last().click();
  await visitor.sees('I am the second.', visitor.activity);
  await folds.first().click();
  await visitor.activity.getByText('I am the first.').waitFor({ state: 'detached' });
  expect(await visitor.activity.getByText('I am the second.').count()).toBe(0);
});

test('pages that were fetched or found, and tools of a server, have cards', async () => {
  const { stage, server, visit } = theatre;
  const found =
    'Web search results for query: "ndjson"\n\nLinks: [{"title":"NDJSON, explained","url":"https://example.com/ndjson"}]\n\nOne object a line.';
  const issue = { number: 7, title: 'Paint the fence' };
  const script = works()
    .emit(toolUse('fetch', 'WebFetch', { url: 'https://example.com/page', prompt: 'What is the title?' }))
    .emit(toolResult('fetch', '# A page\n\nIts title is **Example**.'))
    .emit(toolUse('search', 'WebSearch', { query: 'ndjson' }), toolResult('search', found))
    .emit(toolUse('mcp', 'mcp__tracker__get_issue', { number: 7 }))
    .emit(toolResult('mcp', [{ type: 'text', text: JSON.stringify(issue) }]))
    .and(isFinished());
  const run = await server.start(stage.workspace('web', script));
  await server.becomes(run, 'ended');
  const visitor = await visit();
  await visitor.go(`/runs/${run}`);
  const card = async (name: RegExp) => {
    const head = visitor.activity.getByRole('button', { name });
    await head.filter({ hasText: 'done' }).waitFor();
    if ((await head.getAttribute('aria-expanded')) === 'false') await head.click();
    return visitor.activity.getByRole('article').filter({ has: visitor.page.getByRole('button', { name }) });
  };
  const fetched = await card(/^WebFetch/);
  // An address that an agent names is shown; whether it is opened is a person's choice.
  const link = fetched.getByRole('link', { name: 'https://example.com/page' });
  expect(await link.getAttribute('rel')).toContain('noreferrer');
  await visitor.sees('What is the title?', fetched);
  await fetched.getByRole('heading', { name: 'A page' }).waitFor();
  const searched = await card(/^WebSearch.*ndjson/);
  const page = searched.getByRole('link', { name: 'NDJSON, explained' });
  expect(await page.getAttribute('href')).toBe('https://example.com/ndjson');
  await visitor.sees(/One object a line/, searched);
  const called = await card(/^tracker · get_issue/);
  await called.getByRole('figure', { name: 'Arguments' }).getByText('"number"').waitFor();
  await called.getByRole('figure', { name: 'Output' }).getByText('Paint the fence').waitFor();
});

test('calls that go on at once have a card each, and a failed check is told', async () => {
  const { stage, server, visit } = theatre;
  const gate = stage.path('parallel-gate');
  const names = ['one', 'two', 'three'];
  const script = new Script().readLine().emit(init());
  for (const name of names) script.emit(toolUse(name, 'Bash', { command: `make ${name}` }));
  script.waitForFile(gate);
  for (const name of names.toReversed()) script.emit(toolResult(name, `${name} is made`));
  script.emit(text('LOOP_COMPLETE'), result()).readToEnd();
  const run = await server.start(stage.workspace('parallel', script), {
    verify: ['echo it is wrong; exit 3'],
  });
  const visitor = await visit();
  await visitor.go(`/runs/${run}`);
  const card = (name: string) =>
    visitor.activity.getByRole('button', { name: new RegExp(`^Bash.*make ${name}`) });
  for (const name of names) await card(name).filter({ hasText: 'running' }).waitFor();
  stage.open('parallel-gate');
  for (const name of names) await card(name).filter({ hasText: 'done' }).waitFor();
  await visitor.sees('echo it is wrong; exit 3', visitor.activity);
  await server.becomes(run, 'ended');
  await visitor.button('Previous of: Errors').click();
  await visitor.activity.locator('article[data-target]').filter({ hasText: 'it is wrong' }).waitFor();
});

test('an agent that takes no messages says so, and can still be stopped', async () => {
  const { stage, server, visit } = theatre;
  const script = new Script().emit(init(), text('I do not listen.')).waitForFile(stage.path('deaf-gate'));
  const workspace = stage.workspace('deaf', script, '  backend: custom\n  output_format: stream-json\n');
  const run = await server.start(workspace);
  const visitor = await visit();
  await visitor.go(`/runs/${run}`);
  await visitor.sees('I do not listen.');
  await visitor.sees(/takes no messages while it works/);
  expect(await visitor.page.getByRole('textbox', { name: 'Message to the agent' }).count()).toBe(0);
  await visitor.button('Stop').click();
  await visitor.button('Stop the run').click();
  await server.becomes(run, 'ended');
  await visitor.sees('This run has ended.');
});
