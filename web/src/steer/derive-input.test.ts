import { expect, test } from 'vitest';
import { deriveGoingOn, deriveInput } from './derive-input';
import { agent, summary } from './fakes-for-tests';

const ended = { activity: { state: 'ended', reason: 'completed' } } as const;

test('an input is there while the run goes on and its agent listens', () => {
  expect(deriveInput(summary(), agent())).toEqual({ is: 'open' });
  expect(deriveInput(summary({ activity: { state: 'waiting', for: 'message' } }), agent())).toEqual({
    is: 'open',
  });
});

test('what is not known yet is no reason to take the input away, and none to show it', () => {
  expect(deriveInput(undefined, undefined)).toEqual({ is: 'unknown' });
  expect(deriveInput(summary(), undefined)).toEqual({ is: 'open' });
});

test('an input that is absent says why', () => {
  expect(deriveInput(summary(ended), agent())).toEqual({ is: 'absent', why: 'This run has ended.' });
  expect(deriveInput(summary({ activity: { state: 'stopping' } }), agent())).toMatchObject({ is: 'absent' });
  const deaf = agent({ takesMessages: false, displayName: 'Custom' });
  expect(deriveInput(summary(), deaf)).toEqual({
    is: 'absent',
    why: 'Custom takes no messages while it works.',
  });
});

test('a run that has ended can be resumed and forked', () => {
  expect(deriveGoingOn(summary(ended), agent())).toEqual({ resumeProblem: null, forkProblem: null });
});

test('an agent that is not found is no obstacle: the workspace may name a command of its own', () => {
  const going = deriveGoingOn(summary(ended), agent({ isInstalled: false }));
  expect(going).toEqual({ resumeProblem: null, forkProblem: null });
});

test('a run that goes on has its workspace, and nothing else can go on there', () => {
  const { resumeProblem, forkProblem } = deriveGoingOn(summary(), agent());
  expect(resumeProblem).toContain('goes on');
  expect(forkProblem).toContain('goes on');
});

test.each([
  ['no conversation', summary({ ...ended, session_ids: [] }), agent(), 'kept no conversation'],
  ['an ephemeral one', summary({ ...ended, is_ephemeral: true }), agent(), 'kept no conversation'],
  ['an agent that cannot', summary(ended), agent({ canResume: false, canFork: false }), 'cannot'],
])('with %s neither is possible', (_, run, facts, words) => {
  const { resumeProblem, forkProblem } = deriveGoingOn(run, facts);
  expect(resumeProblem).toContain(words);
  expect(forkProblem).toContain(words);
});
