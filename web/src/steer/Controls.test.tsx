import { act, cleanup, render, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { RunSummary } from '../wire';
import { Controls } from './Controls';
import { fake } from './fake-stream-for-tests';
import { agent, summary } from './fakes-for-tests';
import { PATIENCE_MS } from './use-chosen';

vi.mock('../stream/browser', async () => (await import('./fake-stream-for-tests')).browser);

beforeEach(() => fake.reset());
afterEach(() => {
  vi.useRealTimers();
  cleanup();
});

function controls(change: Partial<RunSummary> = {}) {
  const element = (more: Partial<RunSummary>, refusal = 0) => (
    <Controls run={summary({ ...change, ...more })} agent={agent()} refusal={refusal} />
  );
  const { rerender } = render(element({}));
  return (more: Partial<RunSummary>, refusal?: number) => rerender(element(more, refusal));
}

const button = (name: string | RegExp) => screen.getByRole<HTMLButtonElement>('button', { name });
const status = () => screen.getByRole('status').textContent;

test('a run is not called stopping before it says so', async () => {
  const become = controls();
  await userEvent.click(button('Stop'));
  await userEvent.click(button('Stop the run'));
  expect(status()).toBe('Telling the run to stop…');
  expect(button('Stop').disabled).toBe(true);
  await act(async () => fake.refuse('no_connection', 'No connection: it was not sent'));
  expect(status()).toBe('No connection: it was not sent. Try again when the connection is back.');
  expect(button('Stop').disabled).toBe(false);
  become({ activity: { state: 'stopping' } });
  expect(button('Kill')).toBeTruthy();
});

test('interrupting a loop asks first, because the loop ends with it', async () => {
  controls({ kind: 'loop' });
  expect(button('Interrupt').title).toContain('a loop ends with it');
  await userEvent.click(button('Interrupt'));
  const dialog = within(screen.getByRole('dialog', { name: 'Interrupt this loop?' }));
  await userEvent.click(dialog.getByRole('button', { name: 'Cancel' }));
  expect(fake.commands()).toEqual([]);
  await userEvent.click(button('Interrupt'));
  await userEvent.click(button('Interrupt the loop'));
  expect(fake.commands()).toEqual([{ command: 'interrupt' }]);
});

async function chooseModel(name: string): Promise<void> {
  await userEvent.type(screen.getByRole('combobox', { hidden: true }), name);
  await userEvent.click(screen.getByRole('button', { name: 'Use it', hidden: true }));
  await act(async () => fake.take());
}

test('a model that was chosen is told as not confirmed until the run says which one it is', async () => {
  const become = controls();
  await chooseModel('sonnet');
  expect(button('Model: opus → sonnet')).toBeTruthy();
  become({ model: 'claude-sonnet-5' });
  expect(button('Model: claude-sonnet-5')).toBeTruthy();
});

test('a model that the agent did not take is not told as chosen', async () => {
  const become = controls();
  await chooseModel('gpt');
  become({}, 7);
  expect(button('Model: opus')).toBeTruthy();
  await chooseModel('sonnet');
  expect(button('Model: opus → sonnet')).toBeTruthy();
});

test('a choice that is never confirmed is not told for ever, but an idle agent is waited for', async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  const idle = { activity: { state: 'waiting', for: 'message' } } as const;
  const become = controls(idle);
  await userEvent.click(screen.getByRole('button', { name: 'The agent’s default', hidden: true }));
  await act(async () => fake.take());
  await act(() => vi.advanceTimersByTimeAsync(PATIENCE_MS * 2));
  expect(button('Model: opus → default')).toBeTruthy();
  become({ activity: { state: 'thinking' } });
  await act(() => vi.advanceTimersByTimeAsync(PATIENCE_MS - 1_000));
  expect(button('Model: opus → default')).toBeTruthy();
  await act(() => vi.advanceTimersByTimeAsync(1_000));
  expect(button('Model: opus')).toBeTruthy();
});
