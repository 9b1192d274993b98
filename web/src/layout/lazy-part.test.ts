import { cleanup, render, screen } from '@testing-library/react';
import { createElement, Suspense } from 'react';
import { afterEach, expect, test } from 'vitest';
import { lazyPart, loadPatiently, PartMissing } from './lazy-part';

afterEach(cleanup);

function failing(times: number) {
  const pauses: number[] = [];
  let tries = 0;
  const load = async () => {
    tries += 1;
    if (tries <= times) throw new TypeError('Failed to fetch');
    return 'part';
  };
  return { pauses, loaded: () => loadPatiently(load, async (ms) => void pauses.push(ms)) };
}

test('what cannot be loaded is tried again', async () => {
  const { pauses, loaded } = failing(2);
  expect(await loaded()).toBe('part');
  expect(pauses).toEqual([500, 1_000]);
});

test('what can never be loaded is told', async () => {
  await expect(failing(99).loaded()).rejects.toThrow(PartMissing);
});

test('a part that is there already is drawn at once', async () => {
  let loads = 0;
  const part = lazyPart(async () => {
    loads += 1;
    return () => createElement('p', null, 'part');
  });
  const show = () => render(createElement(Suspense, { fallback: 'wait' }, createElement(part)));
  const first = show();
  expect(first.container.textContent).toBe('wait');
  await screen.findByText('part');
  first.unmount();
  expect(show().container.textContent).toBe('part');
  expect(loads).toBe(1);
});
