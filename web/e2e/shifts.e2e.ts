import { afterAll, beforeAll, expect, test } from 'vitest';
import { isFinished, StreamedText, text, toolResult, toolUse, works } from './dialect';
import { takeMoves, watchRows } from './movement';
import type { Script } from './script';
import { openTheatre } from './theatre';
import type { Visitor } from './visitor';

const theatre = openTheatre();

/** What a page may jump in all; by common measure 0.1 is good. */
const MOST = 0.1;

/** How much has jumped; the browser tells of it with the frame after it. */
async function jumped(visitor: Visitor): Promise<{ sum: number; words: string }> {
  await visitor.page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  );
  const shifts = await visitor.shifts();
  const sum = shifts.reduce((all, { value }) => all + value, 0);
  return { sum, words: shifts.map(({ value, what }) => `${value.toFixed(4)}: ${what}`).join('\n') };
}

async function expectCalm(visitor: Visitor): Promise<void> {
  const { sum, words } = await jumped(visitor);
  expect(sum, words).toBeLessThan(MOST);
}

/** What a run says before somebody comes: cards of every height. */
function story(): Script {
  const script = works();
  for (let round = 0; round < 8; round += 1) {
    script
      .emit(
        text(`Round **${round}**:\n\n1. read\n2. change\n\n| file | state |\n|---|---|\n| a.rs | wrong |`),
      )
      .emit(toolUse(`b${round}`, 'Bash', { command: `make part-${round}` }))
      .emit(toolResult(`b${round}`, 'a line of the output\n'.repeat(round * 3)))
      .emit(toolUse(`e${round}`, 'Edit', { file_path: '/a.rs', old_string: 'a\nb\n', new_string: 'a\nc\n' }))
      .emit(toolResult(`e${round}`, 'The file has been updated.'));
  }
  return script;
}

let run = '';
beforeAll(async () => {
  const { stage, server } = theatre;
  for (const name of ['one', 'two', 'three']) {
    await server.becomes(await server.start(stage.workspace(name, works().and(isFinished()))), 'ended');
  }
  const script = story().emit(text('The end of the story.')).waitForFile(stage.path('gate'));
  run = await server.start(stage.workspace('story', script.and(isFinished())));
});
afterAll(() => theatre.stage.open('gate'));

/** Opens the run that somebody can look at, and waits until nothing more is loaded. */
async function openStory(visitor: Visitor): Promise<void> {
  await visitor.go(`/runs/${run}`);
  await visitor.sees('The end of the story.', visitor.activity);
  await visitor.page.waitForLoadState('networkidle');
}

const WINDOWS = { 'a window': {}, 'a phone': { width: 375, height: 720, isTouch: true } };

for (const [name, options] of Object.entries(WINDOWS)) {
  test(`nothing jumps when the list and a run are opened in ${name}`, async () => {
    const visitor = await theatre.visit(options);
    await visitor.go('/');
    await visitor.page.locator(`a[data-run="${run}"]`).waitFor();
    await visitor.page.waitForLoadState('networkidle');
    await expectCalm(visitor);
    await openStory(visitor);
    await expectCalm(visitor);
  });
}

const ROUNDS = [0, 1, 2, 3, 4, 5];

/** Long texts in pieces, with code in them; each has a gate. */
function streams(gate: string): Script {
  const script = story().emit(text('Here it begins.'));
  for (const round of ROUNDS) {
    const streamed = new StreamedText();
    script.waitForFile(`${gate}-${round}`).emit(...streamed.begin());
    for (let line = 0; line < 12; line += 1) {
      script.emit(streamed.piece(`Line ${line} of `), streamed.piece(`text **${round}**`));
      script.emit(streamed.piece(line % 4 === 3 ? '\n\n```sh\nmake it\n```\n\n' : ' goes on and on.\n\n'));
    }
    script.emit(...streamed.end());
  }
  return script.emit(text('Everything is written.'));
}

test('nothing jumps while the page follows a text that is written', async () => {
  const { stage, server, visit } = theatre;
  const script = streams(stage.path('follow-gate')).waitForFile(stage.path('gate')).and(isFinished());
  const written = await server.start(stage.workspace('follow', script));
  const visitor = await visit();
  await visitor.go(`/runs/${written}`);
  await visitor.sees('Here it begins.', visitor.activity);
  for (const round of ROUNDS) {
    stage.open(`follow-gate-${round}`);
    await visitor.sees(new RegExp(`Line 10 of text ${round}`), visitor.activity);
  }
  await visitor.sees('Everything is written.', visitor.activity);
  await expectCalm(visitor);
});

test('no row moves under a reader who has scrolled up while a text is written', async () => {
  const { stage, server, visit } = theatre;
  const written = await server.start(
    stage.workspace('read', streams(stage.path('read-gate')).and(isFinished())),
  );
  const visitor = await visit();
  await watchRows(visitor);
  await visitor.go(`/runs/${written}`);
  await visitor.sees('Here it begins.', visitor.activity);
  await visitor.page.waitForLoadState('networkidle');
  await visitor.activity.hover();
  await visitor.page.mouse.wheel(0, -700);
  await visitor.button(/^Jump to latest/).waitFor();
  await takeMoves(visitor);
  for (const round of ROUNDS) stage.open(`read-gate-${round}`);
  await visitor.sees('This run has ended.');
  expect(await takeMoves(visitor)).toEqual([]);
  await expectCalm(visitor);
});

test('a row that moves would be noticed', async () => {
  const visitor = await theatre.visit();
  await watchRows(visitor);
  await openStory(visitor);
  let offset = 0;
  const moves = async () => {
    offset += 20;
    await visitor.activity.evaluate((list, by) => {
      for (const row of list.querySelectorAll('article')) row.style.transform = `translateY(${by}px)`;
    }, offset);
    return (await takeMoves(visitor)).filter(({ from, to }) => Math.round(to - from) === 20).length;
  };
  await expect.poll(moves).toBeGreaterThan(1);
});
