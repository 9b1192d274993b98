import { expect, test } from 'vitest';
import { lineOf } from './derive-line';

const line = (body: object) => lineOf(body as never);
const totals = { cost: 12_000, is_estimate: false, duration_ms: 3_000 };

test('a check says whether it runs, passed or failed, and how it ended', () => {
  expect(line({ kind: 'verify', command: 'make', result: null })).toEqual({ words: 'Check runs: make' });
  const result = { is_ok: true, exit: { code: 0 }, duration_ms: 2_000, output: 'fine' };
  expect(line({ kind: 'verify', command: 'make', result })).toMatchObject({
    words: 'Check passed: make',
    more: '2.0 s',
    details: 'fine',
    tone: undefined,
  });
  const failed = { ...result, is_ok: false, exit: { signal: 'SIGKILL' } };
  expect(line({ kind: 'verify', command: 'make', result: failed })).toMatchObject({
    words: 'Check failed: make',
    more: '2.0 s · exit SIGKILL',
    tone: 'bad',
  });
  const unknown = { ...result, is_ok: false, exit: {} };
  expect(line({ kind: 'verify', command: 'make', result: unknown }).more).toBe('2.0 s · exit unknown');
});

test('a check that took too long or was stopped with the run does not read like failed tests', () => {
  const result = { is_ok: false, exit: { signal: 15, was_stopped: true }, duration_ms: 2_000, output: '' };
  expect(
    line({ kind: 'verify', command: 'make', result: { ...result, timed_out_after_ms: 2_000 } }),
  ).toMatchObject({
    words: 'Check failed: make',
    more: 'timed out after 2.0 s',
    tone: 'bad',
  });
  expect(line({ kind: 'verify', command: 'make', result })).toMatchObject({
    words: 'Check stopped: make',
    tone: 'warn',
  });
});

test('a wait says why and until when, and a limit how it is raised', () => {
  const until = '2026-01-01T14:05:00Z';
  const waiting = line({ kind: 'pause', pause: { cause: 'usage_limit', until } });
  expect(waiting).toMatchObject({ words: 'Usage limit reached; waiting for it to reset', tone: 'warn' });
  expect(waiting.more).toMatch(/^until /);
  expect(line({ kind: 'pause', pause: { cause: 'backoff', until } }).words).toMatch(/^The agent failed/);
  expect(line({ kind: 'pause', pause: { cause: 'pause', until } }).tone).toBe('muted');
  const awaited = { limit: 'iterations', message: 'iteration limit reached: 5 of 5 iterations' };
  expect(line({ kind: 'limit_reached', awaited })).toEqual({
    words: 'iteration limit reached: 5 of 5 iterations',
    more: 'continue with: ralph top-up RUN --iterations 10',
    tone: 'warn',
  });
  const raised = (limit: string, to: number) => line({ kind: 'limit_raised', raised: { limit, to } }).words;
  expect(raised('cost', 15_000_000)).toBe('Cost limit raised to $15.0000');
  expect(raised('runtime', 7_200)).toMatch(/^Time limit raised to 2 ?h/);
  expect(raised('tokens', 100)).toBe('Token limit raised to 100 tokens');
  expect(raised('another', 7)).toBe('A limit was raised to 7');
});

test('an error is told by its message, or by its code', () => {
  const error = { message: 'No credit', code: 'billing', class: 'auth', http_status: 402 };
  expect(line({ kind: 'error', error })).toEqual({
    words: 'No credit',
    more: 'auth · status 402',
    tone: 'bad',
  });
  expect(line({ kind: 'error', error: { ...error, message: '' } }).words).toBe('billing');
});

test('a try that follows says when, and which it is', () => {
  const retry = { attempt: 2, max_attempts: 5, delay_ms: 4_000, error: { message: 'busy' } };
  expect(line({ kind: 'retry', retry })).toMatchObject({
    words: 'The model did not answer; it is asked again in 4.0 s (2 of 5)',
    more: 'busy',
  });
  expect(line({ kind: 'retry', retry: { error: {} } }).words).toBe(
    'The model did not answer; it is asked again',
  );
});

test('a limit that is reached is told from one that is near', () => {
  const near = line({ kind: 'rate_limit', limit: { status: 'warning', window: 'week', used_percent: 91.6 } });
  expect(near).toMatchObject({ words: 'The subscription’s limit is near', more: 'week · 92 % used' });
  const reached = line({ kind: 'rate_limit', limit: { status: 'rejected', resets_at: 1_767_225_600 } });
  expect(reached.words).toBe('The subscription’s limit is reached');
  expect(reached.more).toMatch(/^until /);
});

test('a notice has the tone of what it tells', () => {
  const notice = (severity: string, message = 'm') =>
    line({ kind: 'notice', notice: { severity, code: 'c', message, data: null } });
  expect(['error', 'warning', 'info'].map((each) => notice(each).tone)).toEqual(['bad', 'warn', 'muted']);
  expect(notice('info', '')).toMatchObject({ words: 'c', more: null, details: null });
});

test('a process and an iteration say how they ended', () => {
  const attempt = { outcome: 'crashed', error: { message: 'signal 9' }, will_retry: true, totals };
  expect(line({ kind: 'attempt_end', attempt })).toMatchObject({
    words: 'Process ended: it crashed',
    more: '3.0 s · signal 9 · it is tried once more',
    tone: 'bad',
  });
  const iteration = { number: 2, outcome: 'verify_failed', totals, failure: 'no' };
  expect(line({ kind: 'iteration_end', iteration })).toEqual({
    words: 'Iteration 2 ended: verify failed',
    more: '$0.0120 · 3.0 s',
    details: 'no',
    tone: 'bad',
  });
});

test('what is only a record shows all of it', () => {
  expect(line({ kind: 'record', type: 'status_changed', data: { status: 'idle' }, isKnown: true })).toEqual({
    words: 'status changed',
    details: '{\n  "status": "idle"\n}',
    tone: 'muted',
  });
});
