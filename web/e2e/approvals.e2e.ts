import { expect, test } from 'vitest';
import { answered, asks, isFinished, QUESTIONS, text, works } from './dialect';
import { openTheatre } from './theatre';
import type { Visitor } from './visitor';

const theatre = openTheatre();

/** What somebody wants to look at: `E2E_LOOK=DIR`. */
async function picture(visitor: Visitor, name: string): Promise<void> {
  const folder = process.env.E2E_LOOK;
  if (!folder) return;
  for (const [size, width, height] of [
    ['desktop', 1280, 800],
    ['phone', 390, 844],
  ] as const) {
    for (const colorScheme of ['dark', 'light'] as const) {
      await visitor.page.setViewportSize({ width, height });
      await visitor.page.emulateMedia({ colorScheme });
      await visitor.page.screenshot({ path: `${folder}/${name}-${size}-${colorScheme}.png` });
    }
  }
  await visitor.page.setViewportSize({ width: 1280, height: 800 });
}

const RULE = {
  type: 'addRules',
  rules: [{ toolName: 'Bash', ruleContent: 'ls *' }],
  behavior: 'allow',
  destination: 'localSettings',
};
const DIRECTORY = { type: 'addDirectories', directories: ['/tmp/scratch'], destination: 'session' };
/** As the CLI suggests them: a rule, a directory and a mode at once. */
const SUGGESTIONS = [RULE, DIRECTORY, { type: 'setMode', mode: 'acceptEdits', destination: 'session' }];

test('a permission is given once, always, with other arguments, and refused with a reason', async () => {
  const { stage, server, visit } = theatre;
  const allowed = (updatedInput: object) => ({ behavior: 'allow', updatedInput });
  const script = works()
    .emit(asks('once', 'Bash', { command: 'ls -la' }))
    .expectLine(answered('once', allowed({ command: 'ls -la' })))
    .emit(asks('always', 'Bash', { command: 'ls -lh' }, { permission_suggestions: SUGGESTIONS }))
    .expectLine(answered('always', { behavior: 'allow', updatedPermissions: [DIRECTORY] }))
    .emit(asks('changed', 'Bash', { command: 'rm -rf build' }))
    .expectLine(answered('changed', allowed({ command: 'rm -rf build/old' })))
    .emit(asks('denied', 'Write', { file_path: '/etc/passwd', content: 'x' }))
    .expectLine(answered('denied', { behavior: 'deny', message: 'Not that file.' }))
    .emit(text('All four are answered.'))
    .and(isFinished());
  const run = await server.start(stage.workspace('permissions', script));
  const visitor = await visit();
  await visitor.go(`/runs/${run}`);
  const waits = visitor.page.getByRole('region', { name: 'Waiting for you' });
  await waits.getByText('ls -la').waitFor();
  await waits.getByRole('button', { name: 'Allow once' }).click();
  await waits.getByText('ls -lh').waitFor();
  expect(await waits.getByRole('checkbox', { checked: false }).count()).toBe(3);
  await picture(visitor, 'grants');
  await waits.getByRole('checkbox', { name: 'Let it work in /tmp/scratch for this session' }).check();
  await waits.getByRole('button', { name: 'Allow and grant 1' }).click();
  await waits.getByText('rm -rf build').waitFor();
  await waits.getByRole('button', { name: 'Edit input…' }).click();
  const input = waits.getByRole('textbox', { name: 'Input of the tool, as JSON' });
  await input.fill('{"command": ');
  expect(await waits.getByRole('button', { name: 'Allow with this input' }).isDisabled()).toBe(true);
  await input.fill('{"command": "rm -rf build/old"}');
  await waits.getByRole('button', { name: 'Allow with this input' }).click();
  await waits.getByText('/etc/passwd').first().waitFor();
  await waits.getByRole('button', { name: 'Deny…' }).click();
  await waits.getByRole('textbox', { name: /Reason for the agent/ }).fill('Not that file.');
  await waits.getByRole('button', { name: 'Deny', exact: true }).click();
  await visitor.sees('All four are answered.');
  await visitor.sees('Completed');
  await waits.waitFor({ state: 'detached' });
});

test('a command that ends far below is allowed only after its end was shown', async () => {
  const { stage, server, visit } = theatre;
  const lines = Array.from({ length: 40 }, (_, line) => `echo ${line}`);
  const command = [...lines, 'touch ../PWNED'].join('\n');
  const script = works()
    .emit(asks('long', 'Bash', { command }, { permission_suggestions: SUGGESTIONS }))
    .expectLine(answered('long', { behavior: 'allow' }))
    .emit(text('The long one has run.'))
    .and(isFinished());
  const run = await server.start(stage.workspace('long', script));
  const visitor = await visit();
  await visitor.go(`/runs/${run}`);
  const waits = visitor.page.getByRole('region', { name: 'Waiting for you' });
  await waits.getByText('41 lines, the last is touch ../PWNED').waitFor();
  await waits.getByText('Scroll to its end to allow it.').waitFor();
  const allow = waits.getByRole('button', { name: 'Allow once' });
  expect(await allow.isDisabled()).toBe(true);
  await picture(visitor, 'long');
  await waits.locator('[data-end]').scrollIntoViewIfNeeded();
  await expect.poll(() => allow.isEnabled()).toBe(true);
  await allow.click();
  await visitor.sees('The long one has run.');
});

test('questions are answered together, and a plan is sent back and then approved', async () => {
  const { stage, server, visit } = theatre;
  const script = works()
    .emit(asks('q', 'AskUserQuestion', QUESTIONS))
    .expectLine(
      answered('q', {
        behavior: 'allow',
        updatedInput: { answers: { 'Which colour?': 'Green, please', 'Which rooms?': 'Kitchen, Attic' } },
      }),
    )
    .emit(asks('p1', 'ExitPlanMode', { plan: '# The plan\n\n1. Buy paint' }))
    .expectLine(answered('p1', { behavior: 'deny', message: 'Buy brushes, too.' }))
    .emit(asks('p2', 'ExitPlanMode', { plan: '# The plan\n\n1. Buy paint and brushes' }))
    .expectLine(answered('p2', { behavior: 'allow' }))
    .emit(text('The plan is good.'))
    .and(isFinished());
  const run = await server.start(stage.workspace('questions', script));
  const visitor = await visit();
  await visitor.go(`/runs/${run}`);
  const waits = visitor.page.getByRole('region', { name: 'Waiting for you' });
  await waits.getByRole('group', { name: /Which colour/ }).waitFor();
  await picture(visitor, 'question');
  await expect.poll(() => visitor.page.title()).toMatch(/^\(1\) /);
  await waits.getByRole('button', { name: 'Send answers' }).click();
  await visitor.sees('This question has no answer yet.', waits);
  const [colour, rooms] = [/Which colour/, /Which rooms/].map((name) => waits.getByRole('group', { name }));
  await colour?.getByRole('radio', { name: 'Something else' }).check();
  await colour?.getByRole('textbox').fill('Green, please');
  await rooms?.getByRole('checkbox', { name: 'Kitchen' }).check();
  await rooms?.getByRole('checkbox', { name: 'Attic' }).check();
  await waits.getByRole('button', { name: 'Send answers' }).click();
  await waits.getByText('Buy paint', { exact: true }).waitFor();
  await waits.getByRole('button', { name: 'Request changes…' }).click();
  await waits.getByRole('textbox', { name: /What should be different/ }).fill('Buy brushes, too.');
  await waits.getByRole('button', { name: 'Request changes', exact: true }).click();
  await waits.getByText('Buy paint and brushes').waitFor();
  await waits.getByRole('button', { name: 'Approve the plan' }).click();
  await visitor.sees('The plan is good.');
  await visitor.sees('Completed');
  await expect.poll(() => visitor.page.title()).not.toMatch(/^\(/);
  await visitor.button('Previous of: Questions').click();
  await visitor.activity.locator('article[data-target]').filter({ hasText: 'brushes' }).waitFor();
});

test('what was typed into a request is there again, and what is too long is not made up', async () => {
  const { stage, server, visit } = theatre;
  const long = { file_path: '/tmp/long.txt', content: 'long '.repeat(20_000) };
  const script = works()
    .emit(asks('kept', 'Bash', { command: 'rm -rf build' }))
    .expectLine(answered('kept', { behavior: 'deny', message: 'Keep the build.' }))
    .emit(asks('long', 'Write', long))
    .expectLine(answered('long', { behavior: 'allow', updatedInput: long }))
    .emit(text('The long one is written.'))
    .and(isFinished());
  const run = await server.start(stage.workspace('typed', script));
  const visitor = await visit();
  await visitor.go(`/runs/${run}`);
  const waits = visitor.page.getByRole('region', { name: 'Waiting for you' });
  await waits.getByRole('button', { name: 'Deny…' }).click();
  await waits.getByRole('textbox', { name: /Reason for the agent/ }).fill('Keep the build.');
  await visitor.page.getByRole('link', { name: 'ralph' }).click();
  await visitor.page.getByRole('heading', { name: 'Runs' }).waitFor();
  await visitor.page.locator(`a[data-run="${run}"]`).click();
  await expect
    .poll(() => waits.getByRole('textbox', { name: /Reason for the agent/ }).inputValue())
    .toBe('Keep the build.');
  await waits.getByRole('button', { name: 'Deny', exact: true }).click();
  await visitor.sees('The arguments are too long to be shown.', waits);
  expect(await waits.getByRole('button', { name: 'Edit input…' }).count()).toBe(0);
  await waits.getByRole('button', { name: 'Allow once' }).click();
  await visitor.sees('The long one is written.');
});

test('two browsers stay in step: what is answered in one closes in the other', async () => {
  const { stage, server, visit } = theatre;
  const script = works()
    .emit(asks('a', 'Bash', { command: 'make one' }), asks('b', 'Bash', { command: 'make two' }))
    .expectLine(answered('a'))
    .expectLine(answered('b'))
    .and(isFinished());
  const run = await server.start(stage.workspace('two', script));
  const [first, second] = [await visit(), await visit()];
  await first.go(`/runs/${run}`);
  await second.go(`/runs/${run}`);
  for (const { page } of [first, second]) await page.getByText('2 requests, the oldest first').waitFor();
  const card = (visitor: typeof first, words: string) =>
    visitor.page.getByRole('region', { name: 'Waiting for you' }).getByRole('article', { name: words });
  await card(first, 'Bash: make one').getByRole('button', { name: 'Allow once' }).click();
  await card(second, 'Bash: make one').waitFor({ state: 'detached' });
  await second.sees(/make one” was answered elsewhere/);
  await card(second, 'Bash: make two').getByRole('button', { name: 'Allow once' }).click();
  await card(first, 'Bash: make two').waitFor({ state: 'detached' });
  for (const visitor of [first, second]) await visitor.sees('Completed');
});

test('who waits for a person is on top of the list, and can be answered there', async () => {
  const { stage, server, visit } = theatre;
  const script = works()
    .emit(asks('a', 'Bash', { command: 'make three' }))
    .expectLine(answered('a'))
    .and(isFinished());
  const visitor = await visit();
  await visitor.go('/');
  const run = await server.start(stage.workspace('list', script));
  const needs = visitor.page.getByRole('region', { name: 'Needs you' });
  await needs.getByText('Bash: make three').waitFor();
  await visitor.page.getByRole('link', { name: '1 waits for you' }).waitFor();
  await expect.poll(() => visitor.page.title()).toBe('(1) Runs · ralph');
  const first = visitor.page.locator('a[data-run]').first();
  expect(await first.getAttribute('data-run')).toBe(run);
  await needs.getByRole('button', { name: 'Allow once: Bash: make three' }).click();
  await needs.waitFor({ state: 'detached' });
  await server.becomes(run, 'ended');
  await expect.poll(() => visitor.page.title()).toBe('Runs · ralph');
});
