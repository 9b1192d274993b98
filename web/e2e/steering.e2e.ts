import { expect, test } from 'vitest';
import { result, talks, works } from './dialect';
import { Line } from './line';
import { openTheatre } from './theatre';
import type { Visitor } from './visitor';

const theatre = openTheatre();

const field = ({ page }: Visitor) => page.getByRole('textbox', { name: 'Message to the agent' });
const queue = ({ page }: Visitor) => page.getByRole('region', { name: 'Messages to the agent' });

test('messages are sent, queued, changed and taken back, and the agent is interrupted', async () => {
  const { stage, server, visit } = theatre;
  const run = await server.converse(stage.workspace('talk', talks()), { prompt: 'hello' });
  const visitor = await visit();
  await visitor.go(`/runs/${run}`);
  await visitor.sees('You said: hello', visitor.activity);
  await field(visitor).fill('how are you');
  await field(visitor).press('Enter');
  await visitor.sees('You said: how are you', visitor.activity);
  expect(await field(visitor).inputValue()).toBe('');
  await field(visitor).fill('slow');
  await visitor.button('Send').click();
  await visitor.sees('This takes a while.', visitor.activity);
  await visitor.button('Steer').waitFor();
  await field(visitor).fill('first of the queue');
  await field(visitor).press('Control+Enter');
  await field(visitor).fill('second of the queue');
  await visitor.button('Queue').click();
  const first = queue(visitor).getByRole('listitem').filter({ hasText: 'first of the queue' });
  const second = queue(visitor).getByRole('listitem').filter({ hasText: 'second of the queue' });
  await visitor.sees(/after the turn/, first);
  await first.getByRole('button', { name: 'Edit' }).click();
  const change = queue(visitor).getByRole('textbox', { name: 'Change the message' });
  await change.fill('changed in the queue');
  await change.press('Enter');
  await visitor.sees('changed in the queue', queue(visitor));
  await second.getByRole('button', { name: 'Take back' }).click();
  await second.getByRole('button', { name: 'Take back' }).waitFor({ state: 'detached' });
  await visitor.button('Interrupt').click();
  await visitor.sees('You said: changed in the queue', visitor.activity);
  expect(await visitor.activity.getByText('You said: second').count()).toBe(0);
  await server.becomes(run, 'waiting');
});

test('a draft outlives a reload', async () => {
  const { stage, server, visit } = theatre;
  const run = await server.converse(stage.workspace('draft', talks()), { prompt: 'hello' });
  const visitor = await visit();
  await visitor.go(`/runs/${run}`);
  await field(visitor).fill('not yet finis');
  await visitor.page.reload();
  await expect.poll(() => field(visitor).inputValue()).toBe('not yet finis');
});

test('model and permission mode are changed while it goes on', async () => {
  const { stage, server, visit } = theatre;
  const run = await server.converse(stage.workspace('model', talks()), { prompt: 'hello' });
  const visitor = await visit();
  await visitor.go(`/runs/${run}`);
  await visitor.sees('You said: hello', visitor.activity);
  await visitor.button(/^Model:/).click();
  await visitor.page.getByRole('combobox', { name: /Another model/ }).fill('claude-haiku-5');
  await visitor.button('Use it').click();
  await visitor.sees('claude-haiku-5', visitor.activity);
  await visitor.button(/^What happens without asking/).click();
  await visitor.page.getByRole('button', { name: /^Plan/ }).click();
  await visitor.button('What happens without asking: Plan').waitFor();
  // The agent says itself what it works with, when its next turn begins.
  await field(visitor).fill('changed');
  await field(visitor).press('Enter');
  await visitor.button('Model: claude-haiku-5').waitFor();
});

test('a run is stopped, resumed and forked', async () => {
  const { stage, server, visit } = theatre;
  const run = await server.converse(stage.workspace('stop', talks()), { prompt: 'hello' });
  const visitor = await visit();
  await visitor.go(`/runs/${run}`);
  await visitor.sees('You said: hello', visitor.activity);
  await visitor.button('Stop').click();
  await visitor.page
    .getByRole('dialog', { name: 'Stop this run?' })
    .getByRole('button', { name: 'Cancel' })
    .click();
  await visitor.button('Stop').click();
  await visitor.button('Stop the run').click();
  await visitor.sees('This run has ended.');
  await visitor.button('Resume').click();
  const resume = visitor.page.getByRole('dialog', { name: 'Resume this run' });
  await resume.getByRole('textbox', { name: /^Message/ }).fill('go on');
  await resume.getByRole('button', { name: 'Resume' }).click();
  await visitor.sees('You said: go on', visitor.activity);
  const resumed = new URL(visitor.page.url()).pathname.split('/').at(-1) ?? '';
  expect(resumed).not.toBe(run);
  // Two agents in one directory would write over each other.
  await server.ask('POST', `/api/v1/runs/${resumed}/stop`, {});
  await visitor.sees('This run has ended.');
  await visitor.page.getByRole('link', { name: 'goes on from an earlier run' }).click();
  await visitor.sees('You said: hello', visitor.activity);
  await visitor.button('Fork').click();
  const fork = visitor.page.getByRole('dialog', { name: 'Fork this run' });
  await fork.getByRole('textbox', { name: /^Message/ }).fill('another way');
  await fork.getByRole('button', { name: 'Fork' }).click();
  await visitor.sees('You said: another way', visitor.activity);
  expect(new URL(visitor.page.url()).pathname).not.toContain(resumed);
});

test('interrupting a loop asks first, because the loop ends with it', async () => {
  const { stage, server, visit } = theatre;
  const done = { subtype: 'success', request_id: '${/request_id}', response: {} };
  const aborted = { subtype: 'error_during_execution', is_error: true, terminal_reason: 'aborted_streaming' };
  const script = works()
    .expectLine({ type: 'control_request', request: { subtype: 'interrupt' } })
    .answer({ type: 'control_response', response: done })
    .emit(result('', aborted))
    .readToEnd();
  const run = await server.start(stage.workspace('loop', script), { once: false });
  const visitor = await visit();
  await visitor.go(`/runs/${run}`);
  await visitor.sees('Working.', visitor.activity);
  await visitor.button('Interrupt').click();
  const dialog = visitor.page.getByRole('dialog', { name: 'Interrupt this loop?' });
  await visitor.sees(/the loop ends with it/, dialog);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });
  await visitor.button('Interrupt').click();
  await dialog.getByRole('button', { name: 'Interrupt the loop' }).click();
  await visitor.sees('This run has ended.');
  const ends = stage.journal(run).filter(({ event }) => event.type === 'run_ended');
  expect(ends.map(({ event }) => event.data.reason)).toEqual(['interrupted']);
});

test('a message that arrived is known as such after a reload that came before its receipt', async () => {
  const { stage, server, visit } = theatre;
  const run = await server.converse(stage.workspace('reload', talks()), { prompt: 'hello' });
  const [visitor, other] = [await visit(), await visit()];
  const line = await Line.to(visitor.page);
  for (const each of [visitor, other]) {
    await each.go(`/runs/${run}`);
    await each.sees('You said: hello', each.activity);
  }
  line.hold('receipt', 'records', 'runs');
  await field(visitor).fill('did it arrive');
  await field(visitor).press('Enter');
  await other.sees('You said: did it arrive', other.activity);
  await visitor.sees('Sending…', queue(visitor));
  line.lose();
  await visitor.page.reload();
  await visitor.sees('You said: did it arrive', visitor.activity);
  await queue(visitor).getByText('Not sent').waitFor({ state: 'detached' });
  await visitor.sees('1 earlier message', queue(visitor));
  const kept = () => visitor.page.evaluate((id) => sessionStorage.getItem(`ralph.steer.${id}`), run);
  await expect.poll(kept).toBeNull();
});

test('without a server a stop is refused and not done later, and messages wait in their order', async () => {
  const { stage, server, visit } = theatre;
  const run = await server.converse(stage.workspace('away', talks()), { prompt: 'hello' });
  const visitor = await visit();
  // The browser itself says when a server cannot be reached.
  visitor.expectFault(/ERR_CONNECTION_REFUSED|WebSocket connection|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET/);
  await visitor.go(`/runs/${run}`);
  await visitor.sees('You said: hello', visitor.activity);
  // Parts of the page that come when they are needed have come.
  await visitor.page.waitForLoadState('networkidle');
  await server.kill();
  await visitor.sees('No connection to the server.');
  await visitor.button('Stop').click();
  await visitor.button('Stop the run').click();
  await visitor.sees('No connection: it was not sent. Try again when the connection is back.');
  for (const words of ['one', 'two', 'three']) {
    await field(visitor).fill(words);
    await field(visitor).press('Enter');
  }
  theatre.server = await stage.serve(server.port);
  await visitor.sees('You said: three', visitor.activity);
  const sent = stage.journal(run).filter(({ event }) => event.type === 'command_received');
  expect(sent.map(({ event }) => event.data.text ?? event.data.command)).toEqual(['one', 'two', 'three']);
});
