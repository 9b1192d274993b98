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
    once: false,
    limits: { iterations: 1 },
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
