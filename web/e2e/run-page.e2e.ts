import { expect, test } from 'vitest';
import {
  init,
  isFinished,
  result,
  StreamedText,
  text,
  thinking,
  toolResult,
  toolUse,
  works,
} from './dialect';
import { NEEDLE, writeLongRun } from './journal';
import { Script } from './script';
import { openTheatre } from './theatre';

const LONG = '20260102-000000-000000';
let long = { head: 0, needle: 0 };
const theatre = openTheatre((stage) => {
  long = writeLongRun(stage, LONG, 5_000);
});

test('a text is shown as it is written, and is complete at the end', async () => {
  const { stage, server, visit } = theatre;
  const words = Array.from({ length: 400 }, (_, at) => `word-${at} `);
  const streamed = new StreamedText();
  const script = new Script()
    .readLine()
    .emit(init(), thinking('How should I begin?'), ...streamed.begin())
    .emit(...words.slice(0, 200).map((word) => streamed.piece(word)))
    .waitForFile(stage.path('half'))
    .emit(...words.slice(200).map((word) => streamed.piece(word)), ...streamed.end())
    .and(isFinished());
  const run = await server.start(stage.workspace('streams', script));
  const visitor = await visit();
  await visitor.go(`/runs/${run}`);
  await visitor.sees('word-199', visitor.activity);
  expect(await visitor.activity.getByText('word-200').count()).toBe(0);
  await visitor.sees('Writing');
  stage.open('half');
  await visitor.sees('word-399', visitor.activity);
  await visitor.sees('Completed');
  const row = visitor.activity.getByRole('article').filter({ hasText: 'word-0 ' });
  const shown = (await row.getByRole('paragraph').first().textContent())?.trim();
  expect(shown).toBe(words.join('').trim());
  await visitor.button(/^Thinking/).click();
  await visitor.sees('How should I begin?');
});

test('the list follows what is new, but never against the reader', async () => {
  const { stage, server, visit } = theatre;
  const lines = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) => text(`Line ${from + at} of the report.\n\nAnd more of it.`));
  const script = works()
    .emit(...lines(0, 60))
    .waitForFile(stage.path('more'))
    .emit(...lines(60, 90))
    .waitForFile(stage.path('rest'))
    .emit(...lines(90, 95))
    .and(isFinished());
  const run = await server.start(stage.workspace('follows', script));
  const visitor = await visit();
  await visitor.go(`/runs/${run}`);
  await visitor.sees('Line 59 of the report.');
  await visitor.activity.hover();
  await visitor.page.mouse.wheel(0, -900);
  const back = visitor.button(/^Jump to latest/);
  await back.waitFor();
  const place = () => visitor.activity.evaluate((list) => list.scrollTop);
  const shown = async () => (await visitor.activity.getByText(/^Line \d+ of/).allInnerTexts())[3] ?? '';
  const [before, line] = [await place(), await shown()];
  stage.open('more');
  await visitor.button('Jump to latest (30 new)').waitFor();
  expect(Math.abs((await place()) - before)).toBeLessThan(3);
  expect(await shown()).toBe(line);
  await back.click();
  await visitor.sees('Line 89 of the report.');
  stage.open('rest');
  await visitor.sees('Line 94 of the report.');
  expect(await back.count()).toBe(0);
});

test('find looks through everything, not only through what is loaded', async () => {
  const visitor = await theatre.visit();
  await visitor.go(`/runs/${LONG}`);
  await visitor.sees('Completed');
  expect(await visitor.page.getByText(NEEDLE).count()).toBe(0);
  await visitor.press('Control+f');
  const field = visitor.page.getByRole('searchbox', { name: 'Find in this run' });
  await field.fill(NEEDLE);
  await visitor.sees('1 record');
  await field.press('Enter');
  await visitor.activity.getByText(NEEDLE).waitFor();
  await visitor.sees('1 of 1 record');
  const address = new URL(visitor.page.url());
  expect(address.searchParams.get('seq')).toBe(String(long.needle));
  expect(address.searchParams.get('find')).toBe(NEEDLE);
  await visitor.button(/^Jump to latest/).click();
  await visitor.sees('Run ended', visitor.activity);
  await field.press('Escape');
  await expect.poll(() => field.count()).toBe(0);
});

test('jumps go to errors, edits and questions wherever they are', async () => {
  const visitor = await theatre.visit();
  await visitor.go(`/runs/${LONG}`);
  await visitor.sees('Completed');
  const target = visitor.activity.locator('article[data-target]');
  await visitor.button('Previous of: Errors').click();
  await target.filter({ hasText: 'Error of round 413' }).waitFor();
  await visitor.button('Previous of: Errors').click();
  await target.filter({ hasText: /failed.*part_9\b|Error of round|part_409/ }).waitFor();
  await visitor.press('D');
  await target.filter({ hasText: 'Edit' }).waitFor();
  const first = new URL(visitor.page.url()).searchParams.get('seq');
  await visitor.press('D');
  await expect.poll(() => new URL(visitor.page.url()).searchParams.get('seq')).not.toBe(first);
  await visitor.button('Next of: Questions').click();
  await visitor.sees('No later questions');
});

test('kinds can be hidden, and the address says which', async () => {
  const visitor = await theatre.visit();
  await visitor.go(`/runs/${LONG}`);
  const tools = visitor.activity.locator('article[data-kind=tool]');
  const texts = visitor.activity.locator('article[data-kind=text]');
  await tools.first().waitFor();
  await visitor.page.getByRole('button', { name: 'Show', exact: true }).click();
  await visitor.page.getByRole('checkbox', { name: 'Tools' }).uncheck();
  await expect.poll(() => tools.count()).toBe(0);
  await texts.first().waitFor();
  await visitor.press('Escape');
  expect(visitor.page.url()).toContain('hide=');
  await visitor.page.reload();
  await texts.first().waitFor();
  expect(await tools.count()).toBe(0);
});

test('a permalink opens a record in the middle of a long run', async () => {
  const visitor = await theatre.visit();
  await visitor.go(`/runs/${LONG}?seq=${long.needle}`);
  const target = visitor.activity.locator('article[data-target]');
  await target.filter({ hasText: NEEDLE }).waitFor();
  await expect
    .poll(() =>
      target.evaluate((row) => {
        const { top, bottom } = row.getBoundingClientRect();
        return top >= 0 && bottom <= innerHeight;
      }),
    )
    .toBe(true);
  await target.hover();
  await target.getByRole('button', { name: 'Copy a link to this' }).click();
  expect(await visitor.copied()).toBe(`${visitor.url}/runs/${LONG}?seq=${long.needle}`);
});

test('the files that a run changed are shown with their diffs', async () => {
  const visitor = await theatre.visit();
  await visitor.go(`/runs/${LONG}`);
  await visitor.sees('Completed');
  await visitor.button('Files changed').click();
  const files = visitor.page.getByRole('region', { name: 'Files changed' });
  await visitor.sees(/^\d+ files changed/, files);
  await visitor.sees('src/part57.rs', files);
  const diff = files.getByRole('figure', { name: 'Changes in /home/user/project/src/part57.rs' });
  await diff.waitFor();
  const sides = () => diff.locator('[data-split]').count();
  await files.getByRole('button', { name: 'Side by side' }).click();
  await expect.poll(sides).toBeGreaterThan(0);
  await files.getByRole('button', { name: 'One below the other' }).click();
  await expect.poll(sides).toBe(0);
  await files.getByRole('button', { name: 'Copy diff of src/part57.rs' }).click();
  await expect.poll(() => visitor.copied()).toMatch(/^--- a\/src\/part57.rs\n\+\+\+ b\/src\/part57.rs\n@@/);
  await files.getByRole('button', { name: 'Copy diff', exact: true }).click();
  await expect.poll(() => visitor.copied()).toContain('+++ b/src/part7.rs');
  await files.getByRole('button', { name: 'Show in the activity' }).first().click();
  await visitor.activity.locator('article[data-target]').filter({ hasText: 'part7.rs' }).waitFor();
  expect(visitor.page.url()).not.toContain('view=files');
});

test('Back and Forward go from step to step within a run', async () => {
  const visitor = await theatre.visit();
  await visitor.go('/');
  await visitor.page.locator(`a[data-run="${LONG}"]`).click();
  await visitor.sees('Run ended', visitor.activity);
  const seq = () => new URL(visitor.page.url()).searchParams.get('seq');
  const files = visitor.page.getByRole('region', { name: 'Files changed' });
  const target = visitor.activity.locator('article[data-target]');
  const shown = () => target.first().getAttribute('data-seq');
  await visitor.button('Files changed').click();
  await visitor.sees('src/part57.rs', files);
  await visitor.page.goBack();
  await visitor.sees('Run ended', visitor.activity);
  await visitor.page.goForward();
  await visitor.sees('src/part57.rs', files);
  await visitor.page.goBack();
  await visitor.sees('Run ended', visitor.activity);
  await visitor.button('Previous of: Errors').click();
  await target.filter({ hasText: 'Error of round 413' }).waitFor();
  const [first, firstShown] = [seq(), await shown()];
  await visitor.button('Previous of: Errors').click();
  await expect.poll(seq).not.toBe(first);
  await expect.poll(shown).not.toBe(firstShown);
  // What is typed and what is hidden are no steps.
  await visitor.press('/');
  const field = visitor.page.getByRole('searchbox', { name: 'Find in this run' });
  await field.fill(NEEDLE);
  await visitor.sees('1 record');
  await field.press('Escape');
  await field.waitFor({ state: 'detached' });
  await visitor.page.goBack();
  await target.filter({ hasText: 'Error of round 413' }).waitFor();
  expect(seq()).toBe(first);
  await visitor.page.goBack();
  await visitor.sees('Run ended', visitor.activity);
  expect(seq()).toBeNull();
  await visitor.page.goForward();
  await target.filter({ hasText: 'Error of round 413' }).waitFor();
  await visitor.page.goBack();
  await visitor.page.goBack();
  await visitor.page.getByRole('heading', { name: 'Runs' }).waitFor();
});

test('Back returns to where the reader was before a jump', async () => {
  const visitor = await theatre.visit();
  await visitor.go(`/runs/${LONG}`);
  await visitor.sees('Run ended', visitor.activity);
  await visitor.activity.hover();
  await visitor.page.mouse.wheel(0, -3_000);
  await visitor.button(/^Jump to latest/).waitFor();
  const part = await visitor.activity
    .getByText(/^cargo test part_\d+$/)
    .nth(3)
    .textContent();
  await visitor.press('g', 'g');
  await visitor.sees('Iteration 1', visitor.activity);
  await visitor.page.goBack();
  await visitor.sees(part ?? '', visitor.activity);
});

test('what belongs to a run stands in one column of a wide window', async () => {
  const visitor = await theatre.visit({ width: 1_900 });
  await visitor.go(`/runs/${LONG}`);
  await visitor.sees('Run ended', visitor.activity);
  const steering = visitor.page.getByRole('region', { name: 'Steering' });
  const parts = [
    visitor.page.getByRole('heading', { level: 1 }),
    visitor.button('Files changed'),
    visitor.activity.getByRole('article').filter({ hasText: 'Run ended' }),
    steering.locator('> * > *').last(),
  ];
  const lefts = await Promise.all(parts.map(async (part) => (await part.boundingBox())?.x ?? 0));
  expect(Math.min(...lefts), lefts.join(' ')).toBeGreaterThan(400);
  // Rows have a margin of their own, and a scrollbar may take some of the width.
  expect(Math.max(...lefts) - Math.min(...lefts), lefts.join(' ')).toBeLessThan(24);
});

test('raw words, whole outputs and copies of a run', async () => {
  const { stage, server, visit } = theatre;
  const output = `${'a line of a long output\n'.repeat(12_000)}the very end of it`;
  const script = works()
    .emit(toolUse('t1', 'Bash', { command: 'make everything' }), toolResult('t1', output))
    .emit(text('Here is a **bold** claim.'), result())
    .readToEnd();
  const run = await server.start(stage.workspace('raw', script));
  const visitor = await visit();
  await visitor.go(`/runs/${run}`);
  await visitor.sees('Completed');
  const row = visitor.activity.getByRole('article').filter({ hasText: 'bold claim' });
  await row.hover();
  await row.getByRole('button', { name: 'Raw output' }).click();
  await row.getByRole('region', { name: 'Raw output' }).getByText('"Here is a **bold** claim."').waitFor();
  await row.getByRole('button', { name: 'Copy as Markdown' }).click();
  await visitor.sees('Copied', row);
  expect(await visitor.copied()).toContain('Here is a **bold** claim.');
  const call = visitor.activity.getByRole('article').filter({ hasText: 'make everything' });
  await call.getByRole('button', { name: /^Show full/ }).click();
  const full = call.getByRole('figure', { name: 'Full output' });
  // Only the lines in view are there.
  await full.evaluate((box) => {
    box.scrollTop = box.scrollHeight;
  });
  await full.getByText('the very end of it').waitFor();
  await visitor.button('Copy the whole run as Markdown').click();
  await expect.poll(() => visitor.copied()).toContain('make everything');
});
