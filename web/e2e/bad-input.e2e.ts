import { expect, test } from 'vitest';
import { assistant, init, result, text, toolResult, toolUse, works } from './dialect';
import { JournalWriter } from './journal';
import { Script } from './script';
import { openTheatre } from './theatre';

const SKEWED = '20260103-000000-000000';
const theatre = openTheatre((stage) => {
  const journal = new JournalWriter(stage, SKEWED, undefined, 'A clock that goes back');
  journal.agent('text_block', { item: 'm1/0', text: 'From the future.' }, {}, '2099-01-01T00:00:00Z');
  journal.agent(
    'tool_started',
    { item: 'c1', name: 'Bash', kind: 'execute', input: { command: 'date' }, state: 'running' },
    {},
    '2099-01-01T00:00:00Z',
  );
  journal.agent(
    'tool_finished',
    { item: 'c1', status: 'completed', output: 'earlier' },
    {},
    '1970-01-01T00:00:00Z',
  );
  journal.agent('something_new', { of: 'a later version' });
  journal.agent('text_block', { item: 'm2/0', text: 'From the past.' }, {}, '1970-01-01T00:00:00Z');
  journal.end();
});

test('tools that nobody knows and arguments that make no sense have a card', async () => {
  const { stage, server, visit } = theatre;
  const calls: [string, unknown][] = [
    ['NeverHeardOf', { a: 1, b: [null, { c: 'deep' }] }],
    ['Bash', { command: 42 }],
    ['Bash', 'not an object'],
    ['Edit', { file_path: null, old_string: [], new_string: {} }],
    ['MultiEdit', { file_path: '/x', edits: 'none' }],
    ['Write', {}],
    ['Read', { file_path: {}, offset: 'x' }],
    ['TodoWrite', { todos: { 0: 'x' } }],
    ['Task', null],
    ['AskUserQuestion', { questions: [{}] }],
    ['ExitPlanMode', { plan: 7 }],
    ['WebSearch', { query: ['x'] }],
    ['mcp____', {}],
    ['', {}],
  ];
  const script = new Script().readLine().emit(init());
  calls.forEach(([name, input], at) => {
    script.emit(
      toolUse(`c${at}`, name, input),
      toolResult(`c${at}`, [{ type: 'text' }, 7, null, { type: 'text', text: `output-${at}` }], {
        isError: true,
      }),
    );
  });
  script.emit(toolResult('nobody-called-this', 'A result without a call'));
  script.emit(assistant({ type: 'hologram', data: 'x' }), assistant({ type: 'text' }));
  script.emit('this is not JSON', { type: 'from_the_future' }, text('Still here.'), result()).exit(0);
  const run = await server.start(stage.workspace('odd', script));
  await server.becomes(run, 'ended');
  const visitor = await visit({ height: 5_000 });
  await visitor.go(`/runs/${run}`);
  await visitor.sees('Still here.');
  for (const at of calls.keys()) await visitor.sees(`output-${at}`, visitor.activity);
  await visitor.sees('NeverHeardOf', visitor.activity);
});

test('an output of 10 MB is cut, and can be read to its end', async () => {
  const { stage, server, visit } = theatre;
  const output = `first line\n${'0123456789abcdef\n'.repeat(600_000)}last line`;
  const script = works()
    .emit(toolUse('big', 'Bash', { command: 'cat big' }), toolResult('big', output))
    .emit(text('That was long.'), result())
    .exit(0);
  const run = await server.start(stage.workspace('big', script));
  await server.becomes(run, 'ended');
  const visitor = await visit();
  await visitor.go(`/runs/${run}`);
  await visitor.sees('That was long.');
  const card = visitor.activity.getByRole('article').filter({ hasText: 'cat big' });
  await card.getByText('last line').waitFor();
  await card.getByRole('button', { name: /^Show full \(10/ }).click();
  const full = card.getByRole('figure', { name: 'Full output' });
  // Only the lines in view are there.
  await full.evaluate((box) => {
    box.scrollTop = box.scrollHeight;
  });
  await full.getByText('last line').waitFor();
  expect(await visitor.countNodes()).toBeLessThan(3_000);
});

test('pictures: a good one is shown, a broken one and one that is none say so', async () => {
  const { stage, server, visit } = theatre;
  const png =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const image = (data: string, media_type = 'image/png') => [
    { type: 'image', source: { type: 'base64', media_type, data } },
  ];
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="__pwned(1)"/>').toString('base64');
  const pictures = {
    good: image(png),
    broken: image(png.slice(0, 40)),
    svg: image(svg, 'image/svg+xml'),
    liar: image(svg),
  };
  const script = works();
  for (const [name, content] of Object.entries(pictures)) {
    script.emit(
      toolUse(name, 'Read', { file_path: `/${name}.png` }),
      toolResult(name, content, { isError: true }),
    );
  }
  const run = await server.start(stage.workspace('pictures', script.emit(result()).exit(0)));
  await server.becomes(run, 'ended');
  const visitor = await visit({ height: 2_000 });
  await visitor.go(`/runs/${run}`);
  const card = (name: string) => visitor.activity.getByRole('article').filter({ hasText: `/${name}.png` });
  // They are small, and show by themselves.
  await card('good')
    .getByRole('img', { name: /^Attachment/ })
    .waitFor();
  await visitor.sees(/broken/, card('broken'));
  await visitor.sees(/picture/i, card('liar'));
  expect(
    await card('liar')
      .getByRole('img', { name: /^Attachment/ })
      .count(),
  ).toBe(0);
  expect(
    await card('svg')
      .getByRole('img', { name: /^Attachment/ })
      .count(),
  ).toBe(0);
});

test('bombs of markdown and lines without an end leave the page usable', async () => {
  const { stage, server, visit } = theatre;
  const bombs = [
    '['.repeat(20_000),
    '*a_'.repeat(10_000),
    `${'> '.repeat(2_000)}deep`,
    Array.from({ length: 1_000 }, (_, at) => `${' '.repeat(at * 2)}- x`).join('\n'),
    `|${'a|'.repeat(3_000)}\n|${'-|'.repeat(3_000)}\n|${'b|'.repeat(3_000)}`,
    '`'.repeat(30_000),
    '![a]('.repeat(8_000),
    '<'.repeat(20_000),
    'x'.repeat(200_000),
    '\u202e\u200b\u0301'.repeat(5_000),
    '🏳️‍🌈'.repeat(3_000),
  ];
  const script = works();
  bombs.forEach((bomb, at) => {
    script.emit(text(bomb), text(`after-${at}`));
  });
  const name = 'n'.repeat(5_000);
  script.emit(
    toolUse('long', name, { [name]: name }),
    toolResult('long', name.repeat(10), { isError: true }),
  );
  script.emit(
    toolUse('path', 'Write', { file_path: `/${name}/${name}`, content: 'x' }),
    toolResult('path', 'ok'),
  );
  script.emit(text('All bombs have gone off.'), result()).exit(0);
  const run = await server.start(stage.workspace('bombs', script), { prompt: 'p'.repeat(20_000) });
  await server.becomes(run, 'ended');
  const visitor = await visit();
  await visitor.go(`/runs/${run}`);
  await visitor.sees('All bombs have gone off.');
  for (const at of [10, 5, 0]) {
    const seq = stage.journal(run).find(({ event }) => event.data.text === `after-${at}`)?.seq;
    await visitor.go(`/runs/${run}?seq=${seq}`);
    await visitor.sees(`after-${at}`, visitor.activity);
    expect(await visitor.isTooWide()).toBe(false);
  }
  await visitor.button('Files changed').click();
  await visitor.sees(/file/, visitor.page.getByRole('main'));
  await visitor.go('/');
  await visitor.page.locator(`a[data-run="${run}"]`).click();
  await visitor.sees('All bombs have gone off.');
});

test('a clock that goes back, and records of a later version, are shown', async () => {
  const visitor = await theatre.visit();
  await visitor.go(`/runs/${SKEWED}`);
  await visitor.sees('From the future.');
  await visitor.sees('From the past.');
  await visitor.sees('something new');
  expect(await visitor.page.getByText(/NaN|Invalid Date/).count()).toBe(0);
  await visitor.go('/');
  await visitor.sees('A clock that goes back');
  expect(await visitor.page.getByText(/NaN|Invalid Date/).count()).toBe(0);
});

test('runs, pages and records that are not there are told of', async () => {
  const visitor = await theatre.visit();
  visitor.expectFault(/status of 40[04]/);
  for (const id of ['20200101-000000-ffffff', 'nonsense', '..%2f..%2fetc%2fpasswd', '%3Cscript%3E']) {
    await visitor.go(`/runs/${id}`);
    await visitor.sees(/There is no such|cannot be shown/);
  }
  await visitor.go(`/runs/${SKEWED}?seq=99999999&hide=nonsense&view=nowhere&find=`);
  await visitor.sees('From the past.');
});
