import { expect, test } from 'vitest';
import { answered, asks, isFinished, talks, text, works } from './dialect';
import { Line } from './line';
import { openTheatre } from './theatre';
import type { Visitor } from './visitor';

const theatre = openTheatre();

const queue = ({ page }: Visitor) => page.getByRole('region', { name: 'Messages to the agent' });
const request = ({ page }: Visitor, name: string) =>
  page.getByRole('region', { name: 'Waiting for you' }).getByRole('article', { name });

/** Two people with browsers who look at a run. */
async function twoAt(run: string): Promise<[Visitor, Visitor]> {
  const both: [Visitor, Visitor] = [await theatre.visit(), await theatre.visit()];
  for (const visitor of both) await visitor.go(`/runs/${run}`);
  return both;
}

test('two browsers and a terminal stay in step: messages and the queue', async () => {
  const { stage, server } = theatre;
  const run = await server.converse(stage.workspace('talk', talks()), { prompt: 'hello' });
  const both = await twoAt(run);
  const [first, second] = both;
  for (const visitor of both) await visitor.sees('You said: hello', visitor.activity);
  stage.run(['send', run, 'greetings from the terminal']);
  for (const visitor of both) await visitor.sees('You said: greetings from the terminal', visitor.activity);
  await server.becomes(run, 'waiting');
  await first.page.getByRole('textbox', { name: 'Message to the agent' }).fill('slow');
  await first.page.getByRole('textbox', { name: 'Message to the agent' }).press('Enter');
  for (const visitor of both) await visitor.sees('This takes a while.', visitor.activity);
  stage.run(['send', run, '--queue', 'typed in the terminal']);
  stage.run(['send', run, '--queue', 'never mind']);
  for (const visitor of both) {
    await visitor.sees('typed in the terminal', queue(visitor));
    await visitor.sees('never mind', queue(visitor));
  }
  const item = queue(first).getByRole('listitem').filter({ hasText: 'typed in the terminal' });
  await item.getByRole('button', { name: 'Edit' }).click();
  const change = queue(first).getByRole('textbox', { name: 'Change the message' });
  await change.fill('changed in a browser');
  await change.press('Enter');
  await second.sees('changed in a browser', queue(second));
  const messages = (): { id: string; text: string; state: string }[] =>
    JSON.parse(stage.run(['queue', run, '--json']));
  const told = messages().map(({ text: words, state }) => `${state}: ${words}`);
  expect(told).toContain('queued: changed in a browser');
  const unwanted = messages().find(({ text: words }) => words === 'never mind');
  stage.run(['queue', 'withdraw', run, unwanted?.id ?? '']);
  for (const visitor of both) {
    const waits = queue(visitor).getByRole('listitem').filter({ hasText: 'Queued' });
    await waits.filter({ hasText: 'never mind' }).waitFor({ state: 'detached' });
  }
  stage.run(['interrupt', run]);
  for (const visitor of both) {
    await visitor.sees('You said: changed in a browser', visitor.activity);
    expect(await visitor.activity.getByText('You said: never mind').count()).toBe(0);
  }
  stage.run(['stop', run]);
  for (const visitor of both) await visitor.sees('This run has ended.');
});

test('two browsers and a terminal stay in step: what is asked', async () => {
  const { stage, server } = theatre;
  const script = works()
    .emit(asks('a', 'Bash', { command: 'make one' }), asks('b', 'Bash', { command: 'make two' }))
    .expectLine(answered('a', { behavior: 'deny', message: 'not in production' }))
    .expectLine(answered('b', { behavior: 'allow' }))
    .emit(text('Both are answered.'))
    .and(isFinished());
  const run = await server.start(stage.workspace('asks', script));
  const both = await twoAt(run);
  for (const visitor of both) await visitor.sees('2 requests, the oldest first');
  expect(stage.run(['answer', run])).toContain('make one');
  stage.run(['answer', run, '--request', 'a', '--deny', 'not in production']);
  for (const visitor of both) {
    await request(visitor, 'Bash: make one').waitFor({ state: 'detached' });
    await visitor.sees(/“Bash: make one” was (answered|denied) elsewhere/);
  }
  expect(stage.run(['answer', run])).not.toContain('make one');
  await request(both[0], 'Bash: make two').getByRole('button', { name: 'Allow once' }).click();
  await request(both[1], 'Bash: make two').waitFor({ state: 'detached' });
  for (const visitor of both) await visitor.sees('Both are answered.', visitor.activity);
  await server.becomes(run, 'ended');
  expect(() => stage.run(['answer', run, '--request', 'b', '--allow'])).toThrow();
});

test('of two who answer the same request the second is told that it was too late', async () => {
  const { stage, server, visit } = theatre;
  const script = works()
    .emit(asks('a', 'Bash', { command: 'make it' }))
    .expectLine(answered('a', { behavior: 'allow' }))
    .emit(text('It is allowed.'))
    .waitForFile(stage.path('both-have-answered'))
    .emit(asks('b', 'Bash', { command: 'make more' }))
    .expectLine(answered('b'))
    .and(isFinished());
  const run = await server.start(stage.workspace('late', script));
  const [first, second] = [await visit(), await visit()];
  const line = await Line.to(second.page);
  for (const visitor of [first, second]) {
    await visitor.go(`/runs/${run}`);
    await request(visitor, 'Bash: make it').waitFor();
  }
  // The second one does not hear of the first one's answer in time.
  line.hold('inbox');
  await request(first, 'Bash: make it').getByRole('button', { name: 'Allow once' }).click();
  await first.sees('It is allowed.', first.activity);
  await request(second, 'Bash: make it').getByRole('button', { name: 'Allow once' }).click();
  await second.sees(/the first answer counts/, second.page.getByRole('region', { name: 'Steering' }));
  await request(second, 'Bash: make it').waitFor({ state: 'detached' });
  line.release();
  stage.open('both-have-answered');
  // What waits next comes the same way as the news that this waits no more.
  await request(second, 'Bash: make more').waitFor();
  const notes = ({ page }: Visitor) => page.getByRole('button', { name: 'Close this note' }).count();
  expect([await notes(first), await notes(second)]).toEqual([0, 1]);
  await request(first, 'Bash: make more').getByRole('button', { name: 'Allow once' }).click();
  await server.becomes(run, 'ended');
});
