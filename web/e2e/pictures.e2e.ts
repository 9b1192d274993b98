import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { settles } from './axe';
import { result, text, toolResult, toolUse, works } from './dialect';
import { takePicture } from './pictures';
import { showsEverything, writeEndedRuns } from './showcase';
import { openTheatre } from './theatre';
import type { Visitor } from './visitor';

/** The pictures of the documents are made here; what they show is tested in any case. */
const theatre = openTheatre(writeEndedRuns);
const SIZE = { width: 1280, height: 1060 };

let run = '';
beforeAll(async () => {
  const { stage, server } = theatre;
  const gate = stage.path('gate');
  const builds = works()
    .emit(toolUse('b', 'Bash', { command: 'npm run build' }))
    .waitForFile(gate)
    .emit(toolResult('b', 'built'), result())
    .readToEnd();
  await server.start(stage.workspace('server', builds), { prompt: 'Upgrade the web framework to version 6' });
  const checked = stage.workspace(
    'parser',
    works().emit(text('The parser is faster now.\n\nLOOP_COMPLETE'), result()).readToEnd(),
  );
  mkdirSync(join(checked, 'scripts'), { recursive: true });
  writeFileSync(join(checked, 'scripts/check.sh'), `until [ -e '${gate}' ]; do sleep 0.1; done\n`);
  const verifies = await server.start(checked, {
    prompt: 'Make the parser twice as fast',
    once: false,
    verify: ['sh scripts/check.sh'],
  });
  run = await server.start(stage.workspace('greeter', showsEverything(gate)), {
    prompt: 'Make the failing test of the greeter pass',
  });
  await server.becomes(verifies, 'verifying');
  await server.becomes(run, 'waiting');
});
afterAll(() => theatre.stage.open('gate'));

const isInView = (words: Locator) =>
  words.evaluate((element) => {
    const { top, bottom, height } = element.getBoundingClientRect();
    return height > 0 && bottom > 0 && top < innerHeight;
  });

/** Nothing of where the tests run belongs into a document. */
async function picture(visitor: Visitor, name: string): Promise<void> {
  await settles(visitor);
  const place = visitor.page.getByText(theatre.stage.path(''));
  for (const words of await place.all()) await expect.poll(() => isInView(words)).toBe(false);
  await takePicture(visitor, name);
}

async function openRun(visitor: Visitor): Promise<void> {
  await visitor.go(`/runs/${run}`);
  const waits = visitor.page.getByRole('region', { name: 'Waiting for you' });
  await visitor.sees('cargo test --workspace', waits);
  const figure = visitor.activity.getByRole('figure', { name: /^Changes in.*greet.rs/ });
  await figure.last().waitFor();
  await settles(visitor);
  // It opens at its end, and stays there while diffs are loaded.
  const below = () =>
    visitor.activity.evaluate((list) => list.scrollHeight - list.clientHeight - list.scrollTop);
  await expect.poll(below).toBeLessThan(5);
}

for (const theme of ['dark', 'light'] as const) {
  test(`a picture of a run that asks, ${theme}`, async () => {
    const visitor = await theatre.visit({ ...SIZE, theme });
    await openRun(visitor);
    await visitor.sees(/101/, visitor.activity.getByRole('button', { name: /^Bash/ }));
    await visitor.sees('two faults', visitor.activity);
    await picture(visitor, `run-${theme}`);
  });
}

test('a picture of the files that a run changed', async () => {
  const visitor = await theatre.visit({ ...SIZE, theme: 'light' });
  await visitor.go(`/runs/${run}?view=files`);
  await visitor.sees('3 files changed');
  await picture(visitor, 'files-light');
});

test('a picture of the dialog for a new run', async () => {
  const visitor = await theatre.visit({ ...SIZE, height: 1040, theme: 'dark' });
  await visitor.go('/?new=1');
  const dialog = visitor.page.getByRole('dialog', { name: 'New run' });
  await dialog.getByRole('radio', { name: /^Loop/ }).check();
  await dialog.getByRole('radio', { name: /^Claude(?! \()/ }).check();
  await dialog.getByRole('combobox', { name: 'Workspace' }).fill('/home/you/projects/greeter');
  await dialog.getByRole('textbox', { name: /^Commands that verify/ }).fill('cargo test --workspace');
  await dialog.getByRole('textbox', { name: 'Iterations at most' }).fill('20');
  await dialog
    .getByRole('textbox', { name: 'Prompt' })
    .fill('Greet in the language of the user. The tests of every language pass.');
  await picture(visitor, 'new-dark');
});

test('a picture of a run on a phone', async () => {
  const visitor = await theatre.visit({ width: 375, height: 720, isTouch: true });
  await openRun(visitor);
  await picture(visitor, 'run-phone');
});

test('a picture of the list: who waits first, then what goes on, then what has ended', async () => {
  const visitor = await theatre.visit({ ...SIZE, height: 640, theme: 'light' });
  await visitor.go('/');
  await visitor.sees('Needs you');
  for (const words of ['Waiting for permission', 'Running Bash', 'Verifying', 'Completed', 'Stopped']) {
    await visitor.sees(words);
  }
  await visitor.sees('Verification failed');
  await picture(visitor, 'runs-light');
});
