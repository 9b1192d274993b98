import { act, cleanup, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { RecordPage } from '../api/records';
import { RunFeed } from '../run/run-feed';
import type { RunSummary } from '../wire';
import { fake } from './fake-stream-for-tests';
import { summary } from './fakes-for-tests';
import { problem, serve, show } from './page-for-tests';
import { RunFoot } from './RunFoot';

vi.mock('../stream/browser', async () => (await import('./fake-stream-for-tests')).browser);

const backend = {
  name: 'claude_code',
  display_name: 'Claude',
  is_installed: true,
  takes_messages: true,
  takes_model: true,
  models: ['opus', 'sonnet'],
  permission_modes: ['ask', 'bypass'],
  can_resume: true,
  can_fork: true,
  capabilities: [],
};
const waiting = { id: 'm9', text: 'later', mode: 'queue', at: '2026-01-01T00:00:00Z', state: 'queued' };
let runs = 0;

function server(queue: object[] = [], more: Parameters<typeof serve>[0] = {}, agent: object = backend) {
  return serve({
    'GET /api/v1/backends': () => ({ items: [agent] }),
    [`GET /api/v1/runs/r${runs}/messages`]: () => ({ items: queue, next: null }),
    ...more,
  });
}

function page(change: Partial<RunSummary> = {}) {
  const fetch = async () => ({ records: [] }) as unknown as RecordPage;
  const feed = new RunFeed({ fetch, watch: () => () => {}, soon: (run) => run(), pause: async () => {} });
  const run = summary({ id: `r${runs}`, ...change });
  return show(<RunFoot id={run.id} run={run} feed={feed} />);
}

const input = () => screen.findByLabelText<HTMLTextAreaElement>('Message to the agent');
const message = async () =>
  within(await screen.findByRole('region', { name: 'Messages to the agent' })).getByRole('listitem');
const ended = { activity: { state: 'ended', reason: 'completed' } } as const;

beforeEach(() => {
  fake.reset();
  sessionStorage.clear();
  runs += 1;
  server();
});
afterEach(cleanup);

test('Enter steers, Control and Enter queues, Shift and Enter begins a line', async () => {
  await page();
  await userEvent.type(await input(), 'one{Enter}');
  await userEvent.type(await input(), 'two{Shift>}{Enter}{/Shift}lines{Control>}{Enter}{/Control}');
  expect((await input()).value).toBe('');
  expect(screen.getAllByText('Sending…')).toHaveLength(2);
  await act(async () => fake.take({ message_id: 'm1' }));
  expect(fake.commands()).toEqual([
    { command: 'send', text: 'one', mode: 'steer' },
    { command: 'send', text: 'two\nlines', mode: 'queue' },
  ]);
});

test('a session that is idle is sent to, not steered', async () => {
  await page({ activity: { state: 'waiting', for: 'message' } });
  await input();
  expect(screen.queryByRole('button', { name: 'Queue' })).toBeNull();
  expect(screen.getByRole('button', { name: 'Send' })).toBeTruthy();
});

test('a message that is refused stays, with what to do', async () => {
  await page();
  await userEvent.type(await input(), 'hello{Enter}');
  await act(async () => fake.refuse('runner_busy', 'too many messages wait already'));
  const item = within(await message());
  expect(item.getByRole('alert').textContent).toContain('Too many messages wait already.');
  await userEvent.click(item.getByRole('button', { name: 'Edit' }));
  expect((await input()).value).toBe('hello');
});

test('what waits can be changed and taken back', async () => {
  server([waiting]);
  await page();
  const item = within(await message());
  expect(item.getByText('Queued for after the turn')).toBeTruthy();
  await userEvent.click(item.getByRole('button', { name: 'Edit' }));
  const field = item.getByLabelText('Change the message');
  await userEvent.clear(field);
  await userEvent.type(field, 'sooner{Enter}');
  await act(async () => fake.take());
  await userEvent.click(item.getByRole('button', { name: 'Take back' }));
  expect(fake.commands()).toEqual([
    { command: 'edit_message', message_id: 'm9', text: 'sooner' },
    { command: 'withdraw_message', message_id: 'm9' },
  ]);
  await act(async () => fake.refuse('already_sent', 'the agent was given this message already'));
  expect(item.getByRole('alert').textContent).toContain('Send another one');
});

test('what stands for a secret is not saved as a message', async () => {
  server([{ ...waiting, text: 'use [redacted:A_KEY]' }]);
  await page();
  const item = within(await message());
  await userEvent.click(item.getByRole('button', { name: 'Edit' }));
  const field = item.getByLabelText('Change the message');
  await userEvent.type(field, ' now{Enter}');
  expect(item.getByRole<HTMLButtonElement>('button', { name: 'Save' }).disabled).toBe(true);
  expect(item.getByText(/\[redacted:A_KEY\] stands for a secret/)).toBeTruthy();
  expect(fake.commands()).toEqual([]);
  await userEvent.clear(field);
  await userEvent.type(field, 'use the key{Enter}');
  expect(fake.commands()).toEqual([{ command: 'edit_message', message_id: 'm9', text: 'use the key' }]);
});

test('new words for a message that the agent takes meanwhile are in the input', async () => {
  server([waiting]);
  await page();
  const item = within(await message());
  await userEvent.click(item.getByRole('button', { name: 'Edit' }));
  await userEvent.type(item.getByLabelText('Change the message'), ' but well{Enter}');
  server([{ ...waiting, state: 'delivered' }]);
  await act(async () => fake.refuse('already_sent', 'the agent was given this message already'));
  await waitFor(async () => expect((await input()).value).toBe('later but well'), { timeout: 5_000 });
  expect(screen.getByText(/Your new words are in the input/)).toBeTruthy();
});

test('an agent that takes no messages has no input, and that is said', async () => {
  server([], {}, { ...backend, takes_messages: false });
  await page();
  expect(await screen.findByText('Claude takes no messages while it works.')).toBeTruthy();
  expect(screen.queryByLabelText('Message to the agent')).toBeNull();
  expect(screen.getByRole('button', { name: 'Stop' })).toBeTruthy();
});

test('stopping asks first', async () => {
  await page();
  await userEvent.click(await screen.findByRole('button', { name: 'Stop' }));
  await userEvent.click(screen.getByRole('button', { name: 'Cancel' }));
  expect(fake.commands()).toEqual([]);
  await userEvent.click(screen.getByRole('button', { name: 'Stop' }));
  await userEvent.click(screen.getByRole('button', { name: 'Stop the run' }));
  expect(fake.commands()).toEqual([{ command: 'stop' }]);
});

test('a run that is stopping can be killed, and takes no messages', async () => {
  await page({ activity: { state: 'stopping' } });
  await userEvent.click(await screen.findByRole('button', { name: 'Kill' }));
  await userEvent.click(screen.getByRole('button', { name: 'Kill the run' }));
  expect(fake.commands()).toEqual([{ command: 'kill' }]);
  expect(screen.queryByLabelText('Message to the agent')).toBeNull();
});

test('the turn is interrupted without asking, and the run’s word to it is told', async () => {
  await page();
  await userEvent.click(await screen.findByRole('button', { name: 'Interrupt' }));
  expect(fake.commands()).toEqual([{ command: 'interrupt' }]);
  await act(async () => fake.take({ note: 'nothing goes on' }));
  expect(screen.getByText('nothing goes on')).toBeTruthy();
});

test('the permission mode that was chosen is told as not confirmed until the run says it', async () => {
  await page();
  const menu = await screen.findByRole('button', { name: 'What happens without asking: Ask' });
  await userEvent.click(menu);
  await userEvent.click(screen.getByRole('button', { name: /^Allow everything/, hidden: true }));
  const dialog = within(screen.getByRole('dialog', { name: 'Allow everything?' }));
  expect(fake.commands()).toEqual([]);
  await userEvent.click(dialog.getByRole('button', { name: 'Allow everything' }));
  expect(fake.commands()).toEqual([{ command: 'set_permission_mode', mode: 'bypass' }]);
  await act(async () => fake.take());
  expect(menu.getAttribute('aria-label')).toBe('What happens without asking: Ask → Allow everything');
});

test('less than everything is allowed without asking first', async () => {
  await page({ permission_mode: 'bypassPermissions' });
  await userEvent.click(await screen.findByRole('button', { name: /without asking: Allow everything/ }));
  await userEvent.click(screen.getByRole('button', { name: /^Ask/, hidden: true }));
  expect(fake.commands()).toEqual([{ command: 'set_permission_mode', mode: 'ask' }]);
});

test('a run that has ended goes on in a new one, with what was being written', async () => {
  sessionStorage.setItem(`ralph.steer.r${runs}`, JSON.stringify({ draft: 'and the tests', outgoing: [] }));
  const bodies: unknown[] = [];
  server([], {
    [`POST /api/v1/runs/r${runs}/resume`]: (body) => {
      bodies.push(body);
      return { id: 'next' };
    },
  });
  const { history } = await page(ended);
  await userEvent.click(await screen.findByRole('button', { name: 'Resume' }));
  const dialog = within(screen.getByRole('dialog', { name: 'Resume this run' }));
  await userEvent.click(dialog.getByRole('button', { name: 'Resume' }));
  await waitFor(() => expect(history.location.pathname).toBe('/runs/next'));
  expect(bodies).toEqual([{ kind: 'session', prompt: 'and the tests' }]);
});

test('what is written to go on with is kept when the dialog is closed', async () => {
  await page(ended);
  await userEvent.click(await screen.findByRole('button', { name: 'Resume' }));
  const field = () => within(screen.getByRole('dialog')).getByRole<HTMLTextAreaElement>('textbox');
  await userEvent.type(field(), 'a long thought');
  await userEvent.click(screen.getByRole('button', { name: 'Cancel' }));
  await userEvent.click(screen.getByRole('button', { name: 'Fork' }));
  expect(field().value).toBe('a long thought');
});

test('another try of the same fork has the same key', async () => {
  const keys: (string | null)[] = [];
  server([], {
    [`POST /api/v1/runs/r${runs}/fork`]: (_, headers) => {
      keys.push(headers.get('idempotency-key'));
      return problem(503, 'internal', 'the disk is full');
    },
  });
  await page(ended);
  await userEvent.click(await screen.findByRole('button', { name: 'Fork' }));
  const dialog = within(screen.getByRole('dialog'));
  await userEvent.click(dialog.getByRole('button', { name: 'Fork' }));
  expect((await dialog.findByRole('alert')).textContent).toContain('The disk is full.');
  await userEvent.click(dialog.getByRole('button', { name: 'Fork' }));
  await waitFor(() => expect(keys).toHaveLength(2));
  expect(keys[0]).toBeTruthy();
  expect(keys[1]).toBe(keys[0]);
});

test('a run without a conversation says why it cannot go on', async () => {
  await page({ ...ended, session_ids: [] });
  expect(await screen.findByText(/kept no conversation/)).toBeTruthy();
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Resume' }).disabled).toBe(true);
});
