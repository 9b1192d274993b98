import { expect, test } from 'vitest';
import { deriveRows } from '../run/derive-rows';
import type { RunRecord } from '../wire';
import { lastRefusal } from './derive-refusal';

function warned(seq: number, kind: string): RunRecord {
  const event = { type: 'warned', data: { kind, message: 'the agent did not take another model' } };
  return { seq, at: '2026-01-01T00:00:00Z', iteration: 1, attempt: 1, event } as unknown as RunRecord;
}

test('the last warning of what the agent did not take is found, other warnings are not', () => {
  const last = (...records: RunRecord[]) => lastRefusal(deriveRows(records).table.top);
  expect(last(warned(1, 'unanswered'))).toBe(0);
  expect(last(warned(1, 'degraded'), warned(2, 'degraded'), warned(3, 'unanswered'))).toBe(2);
});
