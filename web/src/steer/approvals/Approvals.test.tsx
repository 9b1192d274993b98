import { act, cleanup, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Row } from '../../run/row';
import { ARMING } from '../arming';
import { fake } from '../fake-stream-for-tests';
import { approval, BASH, summary } from '../fakes-for-tests';
import { EverythingIsInView, problem, serve, show } from '../page-for-tests';
import { Approvals } from './Approvals';
import { NeedsYou } from './NeedsYou';
import { forgetAllTyped } from './typed';

vi.mock('../../stream/browser', async () => (await import('../fake-stream-for-tests')).browser);

const rows: Row[] = [];
const page = () => show(<Approvals id="r1" run={summary()} rows={rows} />);
const card = (name: RegExp) => screen.findByRole('article', { name });
const answers = () =>
  fake.commands().map((command) => (command.command === 'answer' ? [command.request, command.answer] : null));

beforeEach(() => {
  fake.reset();
  forgetAllTyped();
  serve({});
});
afterEach(cleanup);

test('a permission is given once, and the card says that it was', async () => {
  fake.ask(approval('permission', BASH));
  await page();
  const bash = within(await card(/Bash: rm -rf build/));
  expect(bash.getByLabelText('Command').textContent).toBe('rm -rf build');
  expect(bash.queryByRole('button', { name: 'Always allow' })).toBeNull();
  await userEvent.click(bash.getByRole('button', { name: 'Allow once' }));
  expect(answers()).toEqual([['p1', { kind: 'allow' }]]);
  expect(bash.getByRole<HTMLButtonElement>('button', { name: 'Allow once' }).disabled).toBe(true);
  await act(async () => fake.take());
  expect(bash.getByRole('status').textContent).toContain('Answered');
  act(() => fake.ask());
  expect(screen.queryByRole('article')).toBeNull();
  expect(screen.queryByText(/elsewhere/)).toBeNull();
});

test('lasting permissions are one line each, chosen one by one, and only those are given', async () => {
  const grants = [
    {
      id: 'rule',
      kind: 'rule',
      destination: 'workspace',
      text: 'Allow Bash(rm *) in this workspace, for you',
    },
    {
      id: 'directory',
      kind: 'directory',
      destination: 'session',
      text: 'Let it work in /tmp for this session',
    },
    { id: 'mode', kind: 'mode', destination: 'session', text: 'Switch to mode acceptEdits\u202e' },
  ];
  fake.ask(approval('permission', { ...BASH, grants }));
  await page();
  const bash = within(await card(/Bash/));
  const boxes = bash.getAllByRole<HTMLInputElement>('checkbox');
  expect(boxes.map(({ checked }) => checked)).toEqual([false, false, false]);
  expect(bash.getByLabelText(/^Mode ?Switch to mode acceptEdits⟨U\+202E⟩$/)).toBe(boxes[2]);
  await userEvent.click(boxes[2] as HTMLElement);
  await userEvent.click(bash.getByLabelText(/^Allow Bash\(rm \*\)/));
  await userEvent.click(boxes[2] as HTMLElement);
  await userEvent.click(bash.getByRole('button', { name: 'Allow and grant 1' }));
  expect(answers()).toEqual([['p1', { kind: 'allow', grants: ['rule'] }]]);
});

test('numbers make the choices of a card that has the focus, but not while a text is typed', async () => {
  fake.ask(approval('permission', BASH));
  await page();
  const article = await card(/Bash/);
  article.focus();
  await userEvent.keyboard('2');
  const bash = within(article);
  const reason = bash.getByLabelText('Reason for the agent (optional)');
  await userEvent.type(reason, '1');
  expect(answers()).toEqual([]);
  await userEvent.click(bash.getByRole('button', { name: 'Cancel' }));
  article.focus();
  await userEvent.keyboard('1');
  expect(answers()).toEqual([['p1', { kind: 'allow' }]]);
});

test('nothing can be answered in the first moments, nor when another request takes its place', async () => {
  ARMING.quietMs = 60;
  try {
    const second = approval('permission', { ...BASH, request: 'p2' }, { seq: 6 });
    fake.ask(approval('permission', BASH), second);
    await page();
    const allow = () => screen.getAllByRole<HTMLButtonElement>('button', { name: 'Allow once' });
    await screen.findAllByRole('article');
    expect(allow().map(({ disabled }) => disabled)).toEqual([true, true]);
    await vi.waitFor(() => expect(allow().map(({ disabled }) => disabled)).toEqual([false, false]));
    act(() => fake.ask(second));
    expect(allow().map(({ disabled }) => disabled)).toEqual([true]);
    await vi.waitFor(() => expect(allow().map(({ disabled }) => disabled)).toEqual([false]));
  } finally {
    ARMING.quietMs = 0;
  }
});

test('what does not fit its box is allowed only after its end was shown', async () => {
  const watched: ((isShown: boolean) => void)[] = [];
  class Observer {
    constructor(tell: (entries: { isIntersecting: boolean }[]) => void) {
      watched.push((isIntersecting) => tell([{ isIntersecting }]));
    }
    observe() {}
    disconnect() {}
  }
  vi.stubGlobal('IntersectionObserver', Observer);
  const command = `git status${'\n'.repeat(40)}touch ../PWNED`;
  fake.ask(approval('permission', { ...BASH, subject: 'git status …', input: { command } }));
  await page();
  const bash = within(await card(/Bash/));
  expect(bash.getByText(/^41 lines/).textContent).toBe('41 lines, the last is touch ../PWNED');
  const allow = bash.getByRole<HTMLButtonElement>('button', { name: 'Allow once' });
  act(() => watched.at(-1)?.(false));
  expect(allow.disabled).toBe(true);
  expect(bash.getByText('Scroll to its end to allow it.')).toBeTruthy();
  expect(bash.getByRole<HTMLButtonElement>('button', { name: 'Deny…' }).disabled).toBe(false);
  act(() => watched.at(-1)?.(true));
  expect(allow.disabled).toBe(false);
  vi.stubGlobal('IntersectionObserver', EverythingIsInView);
});

test('the input can be changed, but only to JSON', async () => {
  fake.ask(approval('permission', BASH));
  await page();
  const bash = within(await card(/Bash/));
  await userEvent.click(bash.getByRole('button', { name: 'Edit input…' }));
  const field = bash.getByLabelText('Input of the tool, as JSON');
  await userEvent.clear(field);
  await userEvent.type(field, '{{"command":');
  const allow = bash.getByRole<HTMLButtonElement>('button', { name: 'Allow with this input' });
  expect(allow.disabled).toBe(true);
  expect(bash.getByText(/This is not JSON/)).toBeTruthy();
  await userEvent.type(field, '"ls"}');
  await userEvent.click(allow);
  expect(answers()).toEqual([['p1', { kind: 'allow_changed', input: { command: 'ls' } }]]);
});

test('arguments that are too long to be shown cannot be changed', async () => {
  const input = { dropped: { reason: 'oversize' } };
  fake.ask(approval('permission', { ...BASH, tool: 'Write', kind: 'edit', subject: '/a/long.txt', input }));
  await page();
  const write = within(await card(/Write/));
  expect(write.getByText('/a/long.txt')).toBeTruthy();
  expect(write.getByText('The arguments are too long to be shown.')).toBeTruthy();
  expect(write.queryByText(/oversize/)).toBeNull();
  expect(write.queryByRole('button', { name: 'Edit input…' })).toBeNull();
  await userEvent.click(write.getByRole('button', { name: 'Allow once' }));
  expect(answers()).toEqual([['p1', { kind: 'allow' }]]);
});

test('a secret that is not shown must be written before the input is used', async () => {
  fake.ask(approval('permission', { ...BASH, input: { command: 'login [redacted:A_KEY]' } }));
  await page();
  const bash = within(await card(/Bash/));
  await userEvent.click(bash.getByRole('button', { name: 'Edit input…' }));
  const allow = bash.getByRole<HTMLButtonElement>('button', { name: 'Allow with this input' });
  expect(allow.disabled).toBe(true);
  expect(bash.getByText(/\[redacted:A_KEY\] stands for a secret/)).toBeTruthy();
  const field = bash.getByLabelText('Input of the tool, as JSON');
  await userEvent.clear(field);
  await userEvent.type(field, '{{"command":"login"}');
  await userEvent.click(allow);
  expect(answers()).toEqual([['p1', { kind: 'allow_changed', input: { command: 'login' } }]]);
});

test('what was typed into a request is there when one comes back, until it is answered', async () => {
  const questions = [{ text: 'Name?' }];
  fake.ask(
    approval('permission', BASH),
    approval('permission', { ...BASH, request: 'p2' }, { seq: 6 }),
    approval('question', { request: 'q1', questions }, { seq: 7 }),
  );
  const cards = async () => (await screen.findAllByRole('article')).map((each) => within(each));
  await page();
  let [denied, changed, asked] = await cards();
  await userEvent.click(denied?.getByRole('button', { name: 'Deny…' }) as HTMLElement);
  await userEvent.type(denied?.getByLabelText(/Reason for the agent/) as HTMLElement, 'keep it');
  await userEvent.click(denied?.getByLabelText(/^and end the turn/) as HTMLElement);
  await userEvent.click(changed?.getByRole('button', { name: 'Edit input…' }) as HTMLElement);
  await userEvent.type(changed?.getByLabelText('Input of the tool, as JSON') as HTMLElement, ' ');
  await userEvent.type(asked?.getByLabelText('Your answer to: Name?') as HTMLElement, 'Ralph');
  cleanup();
  await page();
  [denied, changed, asked] = await cards();
  expect(denied?.getByLabelText<HTMLTextAreaElement>(/Reason for the agent/).value).toBe('keep it');
  expect(denied?.getByLabelText<HTMLInputElement>(/^and end the turn/).checked).toBe(true);
  expect(changed?.getByLabelText<HTMLTextAreaElement>(/as JSON/).value).toMatch(/ $/);
  expect(asked?.getByLabelText<HTMLTextAreaElement>(/Name/).value).toBe('Ralph');
  await userEvent.click(denied?.getByRole('button', { name: 'Deny' }) as HTMLElement);
  await act(async () => fake.take());
  cleanup();
  await page();
  [denied] = await cards();
  expect(denied?.queryByLabelText(/Reason for the agent/)).toBeNull();
});

test('a denial has a reason, and can end the turn', async () => {
  fake.ask(approval('permission', BASH));
  await page();
  const bash = within(await card(/Bash/));
  await userEvent.click(bash.getByRole('button', { name: 'Deny…' }));
  await userEvent.type(bash.getByLabelText(/Reason for the agent/), 'keep it');
  await userEvent.click(bash.getByLabelText(/^and end the turn/));
  await userEvent.click(bash.getByRole('button', { name: 'Deny' }));
  expect(answers()).toEqual([['p1', { kind: 'deny_and_interrupt', reason: 'keep it' }]]);
});

test('several questions are answered together: one, many, and a text', async () => {
  const questions = [
    { text: 'Colour?', options: [{ label: 'Blue' }, { label: 'Red' }] },
    { text: 'Where?', options: [{ label: 'Linux' }, { label: 'macOS' }], is_multiple: true },
    { text: 'Name?' },
  ];
  fake.ask(approval('question', { request: 'q1', questions }));
  await page();
  const form = within(await card(/Colour\?/));
  await userEvent.click(form.getByRole('button', { name: 'Send answers' }));
  expect(form.getAllByText('This question has no answer yet.')).toHaveLength(3);
  expect(answers()).toEqual([]);
  await userEvent.click(form.getByLabelText('Red'));
  await userEvent.click(form.getByLabelText('macOS'));
  const where = within(form.getByRole('group', { name: /Where\?/ }));
  await userEvent.click(where.getByLabelText('Something else'));
  await userEvent.type(where.getByRole('textbox'), 'BSD');
  await userEvent.type(form.getByLabelText('Your answer to: Name?'), 'Ralph');
  await userEvent.click(form.getByRole('button', { name: 'Send answers' }));
  expect(answers()).toEqual([['q1', { kind: 'answers', answers: ['Red', 'macOS, BSD', 'Ralph'] }]]);
});

test('a plan is approved, or sent back with a remark', async () => {
  fake.ask(
    approval('plan', { request: 'a', plan: 'First this' }),
    approval('plan', { request: 'b', plan: 'x' }),
  );
  await page();
  const [first, second] = await screen.findAllByRole('article', { name: /plan/ });
  if (!first || !second) throw new Error('no plans');
  await userEvent.click(within(first).getByRole('button', { name: 'Approve the plan' }));
  await userEvent.click(within(second).getByRole('button', { name: 'Request changes…' }));
  await userEvent.type(within(second).getByLabelText(/What should be different/), 'smaller');
  await userEvent.click(within(second).getByRole('button', { name: 'Request changes' }));
  expect(answers()).toEqual([
    ['a', { kind: 'allow' }],
    ['b', { kind: 'deny', reason: 'smaller' }],
  ]);
});

test('several wait in the order they were asked', async () => {
  fake.ask(
    approval('permission', { ...BASH, request: 'b', subject: 'second' }, { seq: 9 }),
    approval('permission', { ...BASH, request: 'x', subject: 'elsewhere' }, { run: 'other', seq: 1 }),
    approval('permission', { ...BASH, request: 'a', subject: 'first' }, { seq: 3 }),
  );
  await page();
  const cards = await screen.findAllByRole('article');
  expect(cards.map((each) => each.dataset.request)).toEqual(['a', 'b']);
});

test('what somebody else has answered closes, and that is told', async () => {
  fake.ask(approval('permission', BASH));
  await page();
  await card(/Bash/);
  act(() => fake.ask());
  expect(screen.queryByRole('article')).toBeNull();
  expect(screen.getByText('“Bash: rm -rf build” was answered elsewhere.')).toBeTruthy();
});

test('an answer that comes second closes the card and says who was first', async () => {
  fake.ask(approval('permission', BASH));
  await page();
  await userEvent.click(within(await card(/Bash/)).getByRole('button', { name: 'Allow once' }));
  await act(async () => fake.refuse('already_answered', 'it was answered at 10:00 by ralph answer'));
  expect(screen.queryByRole('article')).toBeNull();
  expect(screen.getByText('It was answered at 10:00 by ralph answer.')).toBeTruthy();
});

test('an agent that goes on before our answer is confirmed was not answered elsewhere', async () => {
  fake.ask(approval('permission', BASH));
  await page();
  await userEvent.click(within(await card(/Bash/)).getByRole('button', { name: 'Allow once' }));
  act(() => fake.ask());
  await act(async () => fake.take());
  expect(screen.queryByRole('article')).toBeNull();
  expect(screen.queryByText(/elsewhere/)).toBeNull();
});

test('of an answer that comes second is told once, whichever way it is heard first', async () => {
  fake.ask(approval('permission', BASH));
  await page();
  await userEvent.click(within(await card(/Bash/)).getByRole('button', { name: 'Allow once' }));
  act(() => fake.ask());
  await act(async () => fake.refuse('already_answered', 'it was answered at 10:00 by ralph answer'));
  expect(screen.getAllByRole('button', { name: 'Close this note' })).toHaveLength(1);
  expect(screen.getByText('It was answered at 10:00 by ralph answer.')).toBeTruthy();
});

test('what is answered elsewhere after our answer failed is told', async () => {
  fake.ask(approval('permission', BASH));
  await page();
  await userEvent.click(within(await card(/Bash/)).getByRole('button', { name: 'Allow once' }));
  await act(async () => fake.refuse('runner_silent', 'no runner answers'));
  act(() => fake.ask());
  expect(screen.getByText('“Bash: rm -rf build” was answered elsewhere.')).toBeTruthy();
});

test('an answer that fails can be given again', async () => {
  fake.ask(approval('permission', BASH));
  await page();
  const allow = within(await card(/Bash/)).getByRole<HTMLButtonElement>('button', { name: 'Allow once' });
  await userEvent.click(allow);
  await act(async () => fake.refuse('runner_silent', 'no runner answers'));
  expect(screen.getByRole('alert').textContent).toContain('Try again in a moment');
  expect(allow.disabled).toBe(false);
});

test('what is too long for the feed is fetched', async () => {
  const listed = { items: [approval('plan', { request: 'q1', plan: 'A long plan' })] };
  serve({ 'GET /api/v1/approvals': () => listed });
  fake.ask(approval('plan', null));
  await page();
  expect(await screen.findByText('A long plan')).toBeTruthy();
});

test('what cannot be fetched says so, and is fetched again', async () => {
  serve({ 'GET /api/v1/approvals': () => problem(503, 'store_unavailable', 'the index cannot be read') });
  fake.ask(approval('plan', null, { request: 'unread' }));
  await page();
  const asked = within(await card(/^Plan/));
  expect(await asked.findByText(/could not be loaded/)).toBeTruthy();
  expect(asked.queryByText(/Loading/)).toBeNull();
  serve({
    'GET /api/v1/approvals': () => ({
      items: [approval('plan', { request: 'unread', plan: 'A plan of old' })],
    }),
  });
  await userEvent.click(asked.getByRole('button', { name: 'Try again' }));
  expect(await screen.findByText('A plan of old')).toBeTruthy();
});

test('that more may wait than could be fetched is told', async () => {
  serve({ 'GET /api/v1/approvals': () => problem(503, 'store_unavailable', 'the index cannot be read') });
  fake.ask(approval('permission', BASH));
  fake.waitMore(40);
  await page();
  await card(/Bash/);
  expect((await screen.findByRole('alert')).textContent).toContain('More may wait than is shown here.');
});

test('what was fetched stays while it is fetched again', async () => {
  const long = approval('plan', { request: 'long', plan: 'A long plan' });
  serve({ 'GET /api/v1/approvals': () => ({ items: [long] }) });
  fake.ask(approval('plan', null, { request: 'long' }));
  await page();
  expect(await screen.findByText('A long plan')).toBeTruthy();
  vi.stubGlobal('fetch', () => new Promise(() => {}));
  act(() => fake.ask(approval('plan', null, { request: 'long' }), approval('permission', BASH, { seq: 9 })));
  expect(await card(/Bash/)).toBeTruthy();
  expect(screen.getByText('A long plan')).toBeTruthy();
});

test('the list of runs answers simple permissions, and leads to the others', async () => {
  fake.tell(summary());
  fake.ask(approval('permission', BASH), approval('plan', { request: 'b', plan: 'x' }, { seq: 8 }));
  await show(<NeedsYou />);
  const list = within(await screen.findByRole('region', { name: 'Needs you' }));
  expect(list.getAllByText(/Fix it/)).toHaveLength(2);
  expect(list.getByRole('link', { name: 'Answer: A plan' }).getAttribute('href')).toBe('/runs/r1');
  await userEvent.click(list.getByRole('button', { name: 'Deny: Bash: rm -rf build' }));
  expect(answers()).toEqual([['p1', { kind: 'deny', reason: 'The user does not allow this.' }]]);
});
