import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Attachments } from './Attachments';
import { callOf } from './calls-for-tests';
import { loadRaw } from './load-raw';

vi.mock('./load-raw', () => ({ loadRaw: vi.fn() }));
const load = vi.mocked(loadRaw);
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

beforeEach(() => {
  Object.assign(URL, { createObjectURL: () => 'blob:a', revokeObjectURL: () => {} });
  const source = { type: 'base64', media_type: 'image/png', data: PNG };
  load.mockResolvedValue(JSON.stringify({ tool_use_id: 'a', content: [{ type: 'image', source }] }));
});
afterEach(() => {
  cleanup();
  load.mockReset();
});

function show(length: number, attachments = ['image/png, 70 bytes']) {
  const raw = [{ iteration: 1, attempt: 1, offset: 0, length }];
  const call = callOf({ item: 'a', name: 'Read', kind: 'read', attachments, raw });
  return render(<Attachments call={call} run="r" />);
}

test('a small picture shows by itself', async () => {
  show(500);
  expect(await screen.findByRole('img', { name: 'Attachment: image/png, 70 bytes' })).toBeDefined();
  expect(screen.queryByRole('button')).toBeNull();
});

test('a large one, or many, wait until somebody asks', async () => {
  show(3_000_000);
  expect(load).not.toHaveBeenCalled();
  fireEvent.click(screen.getByRole('button', { name: 'Show picture' }));
  expect(await screen.findByRole('img')).toBeDefined();
  cleanup();
  load.mockClear();
  show(
    500_000,
    Array.from({ length: 9 }, () => 'image/png, 70 bytes'),
  );
  expect(load).not.toHaveBeenCalled();
});

test('one that is none says so, and can be asked for again', async () => {
  load.mockResolvedValue('{}');
  show(500);
  expect(await screen.findByText(/was not found/)).toBeDefined();
  expect(screen.getByRole('button', { name: 'Show picture' })).toBeDefined();
});

test('what came with a picture that is not shown any more is not kept', async () => {
  const { unmount } = show(500);
  const signal = load.mock.calls[0]?.[3];
  unmount();
  expect(signal?.aborted).toBe(true);
});
