import { expect, test } from 'vitest';
import type { Backend } from '../api/client';
import { agent } from '../steer/fakes-for-tests';
import type { RunStarted } from '../wire';
import { agentOf, permissionOf, sortAgents } from './derive-agent';
import {
  checkForm,
  EMPTY_FORM,
  fieldOf,
  firstWorkspace,
  formOf,
  proposedAgent,
  proposedBy,
  requestOf,
  runIn,
  type Workspace,
  waitWords,
} from './derive-form';
import { StartKeys } from './start-keys';

const claude = agent();
const demo = agent({ name: 'demo', displayName: 'Demo' });
const gone = agent({
  name: 'codex',
  displayName: 'Codex',
  isInstalled: false,
  problem: 'Run `npm install`.',
});
const good = { ...EMPTY_FORM, workspace: '/projects/a', backend: 'claude_code', prompt: 'do it' };
const place = (path: string, is_there = true) => ({ path, is_there }) as Workspace;

test('agents that can be used come first, the scripted one after the others', () => {
  expect(sortAgents([gone, demo, claude]).map(({ name }) => name)).toEqual(['claude_code', 'demo', 'codex']);
});

test('modes are known by the names of ralph and of the agents', () => {
  expect(['bypass', 'accept-edits', 'acceptEdits', 'default', 'odd', null].map(permissionOf)).toEqual([
    'bypass',
    'accept_edits',
    'accept_edits',
    'ask',
    null,
    null,
  ]);
});

test('the workspace is the one that is looked at, or the last one that is still there', () => {
  expect(firstWorkspace([place('/gone', false), place('/there')], undefined)).toBe('/there');
  expect(firstWorkspace([place('/there')], '/wanted')).toBe('/wanted');
  expect(firstWorkspace([], undefined)).toBe('');
});

test('the agent is the last one there, if it is installed', () => {
  expect(proposedAgent([claude, demo, gone], 'demo')).toBe('demo');
  expect(proposedAgent([claude, demo, gone], 'codex')).toBe('claude_code');
  expect(proposedAgent([gone], undefined)).toBe('');
  expect(proposedAgent([claude, demo], 'custom')).toBe('');
});

test('the last run proposes what the next one is asked', () => {
  const last = {
    backend: 'claude_code',
    kind: 'session',
    model: 'opus',
    permission_mode: 'accept_edits',
    max_iterations: 7,
    max_cost: 2_500_000,
    verify: ['make', 'make test'],
  } as RunStarted;
  expect(proposedBy(last, [claude])).toEqual({
    backend: 'claude_code',
    kind: 'session',
    mode: '',
    model: 'opus',
    permission: 'accept_edits',
    iterations: '7',
    cost: '2.5',
    verify: 'make\nmake test',
  });
  expect(proposedBy(last, [demo])).not.toHaveProperty('model');
});

test.each(['bypass', 'bypassPermissions'])(
  'that a run was allowed everything (%s) is not proposed',
  (mode) => {
    const last = {
      backend: 'claude_code',
      kind: 'loop',
      max_iterations: 0,
      permission_mode: mode,
    } as RunStarted;
    expect(proposedBy(last, [claude]).permission).toBe('');
  },
);

test('what somebody typed is not replaced by a proposal', () => {
  expect(formOf({ model: 'opus', mode: 'coder' }, { model: '' })).toMatchObject({ model: '', mode: 'coder' });
});

test('what is waited for is told', () => {
  const nothing = { isLooking: true, isListing: true, isKnown: false };
  expect(waitWords(nothing)).toContain('where agents have worked');
  expect(waitWords({ ...nothing, isListing: false })).toContain('agents');
  expect(waitWords({ ...nothing, isListing: false, isLooking: false })).toContain('last run');
  expect(waitWords({ ...nothing, isKnown: true })).toBeNull();
});

test('a form that is complete has nothing wrong', () => {
  expect(
    checkForm({ ...good, iterations: '3', cost: '0.5', minutes: '1.5', tokens: '5000000000', turns: '9' }, [
      claude,
    ]),
  ).toEqual({});
});

test.each([
  ['workspace', { workspace: ' ' }],
  ['workspace', { workspace: 'relative/path' }],
  ['backend', { backend: 'codex' }],
  ['prompt', { prompt: ' ' }],
  ['prompt', { prompt: 'ä'.repeat(500_000) }],
  ['iterations', { iterations: '0' }],
  ['iterations', { iterations: '2.5' }],
  ['iterations', { iterations: 'many' }],
  ['cost', { cost: '-1' }],
  ['cost', { cost: 'much' }],
  ['minutes', { minutes: '0' }],
  ['tokens', { tokens: '0' }],
  ['tokens', { tokens: '1.5' }],
  ['turns', { turns: 'many' }],
  ['turns', { turns: '4294967296' }],
  ['verify', { verify: 'x\n'.repeat(101) }],
])('the field %s says what is wrong with %j', (field, change) => {
  expect(Object.keys(checkForm({ ...good, ...change }, [claude, gone]))).toEqual([field]);
});

test('a conversation needs no prompt', () => {
  expect(checkForm({ ...good, kind: 'session', prompt: '' }, [claude])).toEqual({});
});

test('an agent that is not there says what to do', () => {
  expect(checkForm({ ...good, backend: 'codex' }, [gone]).backend).toBe('Run `npm install`.');
});

test('what is empty is left to the settings, and what does not belong to the kind is not asked', () => {
  const limits = { iterations: null, cost_micro_usd: null, runtime_seconds: null, tokens: null, turns: null };
  expect(requestOf(good, claude)).toEqual({
    kind: 'loop',
    workspace: '/projects/a',
    backend: 'claude_code',
    prompt: 'do it',
    limits,
  });
  const talk = { ...good, kind: 'session' as const, verify: 'make', iterations: '3', prompt: '' };
  expect(requestOf(talk, claude)).toEqual({
    kind: 'session',
    workspace: '/projects/a',
    backend: 'claude_code',
    limits,
  });
});

test('everything that was said is asked', () => {
  const form = {
    ...good,
    model: ' opus ',
    mode: 'coder',
    iterations: '3',
    cost: '0.25',
    minutes: '1.5',
    tokens: '250000',
    turns: '40',
    verify: ' make \n\nmake test\n',
    permission: 'plan' as const,
  };
  expect(requestOf(form, claude)).toMatchObject({
    model: 'opus',
    mode: 'coder',
    verify: ['make', 'make test'],
    permission_mode: 'plan',
    limits: { iterations: 3, cost_micro_usd: 250_000, runtime_seconds: 90, tokens: 250_000, turns: 40 },
  });
});

test('an agent is not told what it does not know', () => {
  const plain = agent({ takesModel: false, permissionModes: [] });
  const asked = requestOf({ ...good, model: 'opus', permission: 'ask' }, plain);
  expect(asked).not.toHaveProperty('model');
  expect(asked).not.toHaveProperty('permission_mode');
});

test('a refusal stands at its field where that is known', () => {
  expect(fieldOf('The workspace `/x` is no directory.')).toBe('workspace');
  expect(fieldOf('Claude is not installed.')).toBe('backend');
  expect(fieldOf('Too many runs are started at once.')).toBeNull();
});

test('a refusal that speaks of a run leads to it', () => {
  expect(runIn('The workspace `/a` is in use by run 20261116-063622-004fd8 (pid 1)')).toBe(
    '20261116-063622-004fd8',
  );
  expect(runIn('The workspace is no directory.')).toBeNull();
});

test('the same wish has the same key, another wish another one', () => {
  const keys = new StartKeys();
  const first = keys.keyFor('a');
  expect(keys.keyFor('a')).toBe(first);
  expect(keys.keyFor('b')).not.toBe(first);
  expect(new StartKeys().keyFor('a')).not.toBe(first);
});

test('limits that the agent cannot keep are not sent', () => {
  const form = { ...good, cost: '1', tokens: '2', turns: '3', minutes: '1' };
  expect(requestOf(form, agent({ limits: [] })).limits).toMatchObject({
    cost_micro_usd: null,
    tokens: null,
    turns: null,
  });
  expect(requestOf(form, agent({ limits: ['cost'] })).limits).toMatchObject({
    cost_micro_usd: 1_000_000,
    runtime_seconds: 60,
  });
  expect(requestOf(form, undefined).limits).toMatchObject({ cost_micro_usd: 1_000_000, tokens: 2, turns: 3 });
});

test('an agent that reports tokens has a cost limit, because the cost can be estimated', () => {
  const backend = { models: [], permission_modes: [], capabilities: ['agent_api.usage.tokens.v1'] };
  expect(agentOf(backend as unknown as Backend).limits).toEqual(['cost', 'tokens']);
});
