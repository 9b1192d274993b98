import { afterAll, beforeAll, expect, test } from 'vitest';
import { settles, violationsIn } from './axe';
import { answered, asks, isFinished, QUESTIONS, talks, text, toolUse, works } from './dialect';
import { showsEverything } from './showcase';
import { openTheatre } from './theatre';
import type { Visitor } from './visitor';

const theatre = openTheatre();

/** The runs that are looked at, by what they are for. */
const runs = { everything: '', question: '', plan: '', talk: '', done: '' };
beforeAll(async () => {
  const { stage, server } = theatre;
  const gate = stage.path('gate');
  const done = stage.workspace('website', works().emit(text('The colours are changed.')).and(isFinished()));
  runs.done = await server.start(done, { prompt: 'Use calmer colours on the start page' });
  await server.becomes(runs.done, 'ended');
  const busy = works()
    .emit(toolUse('b', 'Bash', { command: 'npm run build' }))
    .waitForFile(gate)
    .and(isFinished());
  await server.start(stage.workspace('server', busy), { prompt: 'Upgrade the web framework' });
  const asking = (name: string, tool: string, input: object) =>
    server.start(
      stage.workspace(
        name,
        works()
          .emit(asks(name, tool, input))
          .expectLine(answered(name))
          .and(isFinished()),
      ),
    );
  runs.question = await asking('question', 'AskUserQuestion', QUESTIONS);
  runs.plan = await asking('plan', 'ExitPlanMode', { plan: '# The plan\n\n1. Buy `paint`\n2. Paint' });
  runs.talk = await server.converse(stage.workspace('talk', talks()), { prompt: 'slow' });
  runs.everything = await server.start(stage.workspace('greeter', showsEverything(gate)), {
    prompt: 'Make the failing test of the greeter pass',
  });
  for (const run of [runs.question, runs.plan, runs.everything]) await server.becomes(run, 'waiting');
});
afterAll(() => theatre.stage.open('gate'));

const waits = ({ page }: Visitor) => page.getByRole('region', { name: 'Waiting for you' });

async function openTalk(visitor: Visitor): Promise<void> {
  await visitor.go(`/runs/${runs.talk}`);
  await visitor.sees('This takes a while.', visitor.activity);
}

const VIEWS: Record<string, (visitor: Visitor) => Promise<void>> = {
  runs: async (visitor) => {
    await visitor.go('/');
    await visitor.sees('Needs you');
  },
  run: async (visitor) => {
    await visitor.go(`/runs/${runs.everything}`);
    await visitor.sees('cargo test --workspace', waits(visitor));
    await visitor.page
      .getByRole('figure', { name: /^Changes in/ })
      .first()
      .waitFor();
  },
  find: async (visitor) => {
    await visitor.go(`/runs/${runs.everything}?find=greet`);
    await visitor.sees(/^\d+ records/);
  },
  files: async (visitor) => {
    await visitor.go(`/runs/${runs.everything}?view=files`);
    await visitor.sees('3 files changed');
  },
  new: async (visitor) => {
    await visitor.go('/?new=1');
    await visitor.page
      .getByRole('dialog', { name: 'New run' })
      .getByRole('radio', { name: /^Demo/ })
      .waitFor();
  },
  keys: async (visitor) => {
    await visitor.go('/');
    await visitor.page.getByRole('heading', { name: 'Runs' }).waitFor();
    await visitor.press('?');
    await visitor.page.getByRole('dialog', { name: 'Keys' }).waitFor();
  },
  question: async (visitor) => {
    await visitor.go(`/runs/${runs.question}`);
    await waits(visitor)
      .getByRole('group', { name: /Which rooms/ })
      .waitFor();
    await waits(visitor).getByRole('radio', { name: 'Something else' }).check();
    await waits(visitor).getByRole('button', { name: 'Send answers' }).click();
    await visitor.sees('This question has no answer yet.', waits(visitor));
  },
  plan: async (visitor) => {
    await visitor.go(`/runs/${runs.plan}`);
    await visitor.sees('Buy', waits(visitor));
    await waits(visitor).getByRole('button', { name: 'Request changes…' }).click();
    await waits(visitor)
      .getByRole('textbox', { name: /What should be different/ })
      .waitFor();
  },
  denial: async (visitor) => {
    await visitor.go(`/runs/${runs.everything}`);
    await waits(visitor).getByRole('button', { name: 'Deny…' }).click();
    await waits(visitor)
      .getByRole('textbox', { name: /Reason for the agent/ })
      .waitFor();
  },
  queue: async (visitor) => {
    await openTalk(visitor);
    const field = visitor.page.getByRole('textbox', { name: 'Message to the agent' });
    await field.fill('Use less paint.');
    await visitor.button('Queue').click();
    const queue = visitor.page.getByRole('region', { name: 'Messages to the agent' });
    await visitor.sees('Use less paint.', queue);
    await queue.getByRole('button', { name: 'Edit' }).first().click();
    await queue.getByRole('textbox', { name: 'Change the message' }).waitFor();
  },
  model: async (visitor) => {
    await openTalk(visitor);
    await visitor.button(/^Model:/).click();
    await visitor.page.getByRole('combobox', { name: /Another model/ }).waitFor();
  },
  permission: async (visitor) => {
    await openTalk(visitor);
    await visitor.button(/^What happens without asking/).click();
    await visitor.page.getByRole('button', { name: /^Plan/ }).waitFor();
  },
  stop: async (visitor) => {
    await openTalk(visitor);
    await visitor.button('Stop').click();
    await visitor.page.getByRole('dialog', { name: 'Stop this run?' }).waitFor();
  },
  resume: async (visitor) => {
    await visitor.go(`/runs/${runs.done}`);
    await visitor.button('Resume').click();
    await visitor.page.getByRole('dialog', { name: 'Resume this run' }).waitFor();
  },
  nothing: async (visitor) => {
    visitor.expectFault(/status of 404/);
    await visitor.go('/runs/20200101-000000-ffffff');
    await visitor.sees('There is no such run');
  },
};

/** The ways to look at each view. */
const WINDOWS = {
  dark: { theme: 'dark' },
  light: { theme: 'light' },
  phone: { width: 375, height: 720, isTouch: true },
} as const;

for (const [window, options] of Object.entries(WINDOWS)) {
  test.each(Object.entries(VIEWS))(`%s is accessible and fits: ${window}`, async (_, open) => {
    const visitor = await theatre.visit(options);
    await open(visitor);
    await settles(visitor);
    expect(await visitor.isTooWide()).toBe(false);
    expect(await violationsIn(visitor)).toEqual([]);
  });

  test(`the page of who is logged out is accessible and fits: ${window}`, async () => {
    const visitor = await theatre.visit({ ...options, isStranger: true });
    visitor.expectFault(/status of 40[13]|WebSocket connection/);
    await visitor.go('/');
    await visitor.page.getByRole('heading', { name: 'You are logged out' }).waitFor();
    expect(await visitor.isTooWide()).toBe(false);
    expect(await violationsIn(visitor)).toEqual([]);
  });
}

test('an agent asks, and a phone answers', async () => {
  const { stage, server, visit } = theatre;
  const script = works()
    .emit(asks('p', 'Bash', { command: 'make phone' }))
    .expectLine(answered('p'));
  const asked = await server.start(stage.workspace('phone', script.and(isFinished())));
  const visitor = await visit({ width: 375, height: 720, isTouch: true });
  await visitor.go(`/runs/${asked}`);
  const waits = visitor.page.getByRole('region', { name: 'Waiting for you' });
  await waits.getByText('make phone').waitFor();
  await waits.getByRole('button', { name: 'Allow once' }).tap();
  await server.becomes(asked, 'ended');
  await visitor.sees('This run has ended.');
});
