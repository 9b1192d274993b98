import { expect, test } from 'vitest';
import { NEEDLE, writeLongRun } from './journal';
import { openTheatre } from './theatre';

const LONG = '20260102-000000-000000';
let long = { head: 0, needle: 0 };
const theatre = openTheatre((stage) => {
  long = writeLongRun(stage, LONG, 100_000);
});

const MOST_NODES = 3_000;
const MOST_SCRIPT_BYTES = 250_000;

test('a run of 100,000 records is opened at its end, and only a part of it is there', async () => {
  const { server, visit } = theatre;
  await server.knows(LONG, long.head);
  const visitor = await visit();
  const asked: string[] = [];
  visitor.page.on('request', (request) => asked.push(request.url()));
  // The end is what is drawn first, not the beginning of what was fetched.
  await visitor.page.addInitScript(() => {
    new MutationObserver((_, observer) => {
      const first = document.querySelector('[aria-label=Activity] article');
      if (!first) return;
      observer.disconnect();
      document.documentElement.dataset.first = String(document.querySelector('[data-kind=run_end]') !== null);
    }).observe(document, { childList: true, subtree: true });
  });
  await visitor.go(`/runs/${LONG}`);
  await visitor.sees('Run ended', visitor.activity);
  expect(await visitor.page.locator('html').getAttribute('data-first')).toBe('true');
  expect(await visitor.countNodes()).toBeLessThan(MOST_NODES);
  await visitor.page.waitForLoadState('networkidle');
  expect(asked.filter((address) => address.includes('/records')).length).toBeLessThan(8);
  await visitor.activity.hover();
  for (let step = 0; step < 60; step += 1) {
    await visitor.page.mouse.wheel(0, -1_500);
    await visitor.page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
    if (step % 10 === 0) expect(await visitor.countNodes()).toBeLessThan(MOST_NODES);
  }
  await visitor.button(/^Jump to latest/).click();
  await visitor.sees('Run ended', visitor.activity);
  expect(await visitor.countNodes()).toBeLessThan(MOST_NODES);
});

test('find, jumps and the beginning reach every part of it', async () => {
  const visitor = await theatre.visit();
  await visitor.go(`/runs/${LONG}?find=${NEEDLE}`);
  await visitor.sees('1 record');
  await visitor.button('Next hit').click();
  await visitor.activity.getByText(NEEDLE).waitFor();
  expect(new URL(visitor.page.url()).searchParams.get('seq')).toBe(String(long.needle));
  await visitor.button('Next of: Errors').click();
  await visitor.activity
    .locator('article[data-target]')
    .filter({ hasText: /Error of round|failed/ })
    .waitFor();
  await visitor.activity.focus();
  await visitor.press('g', 'g');
  await visitor.sees('Iteration 1', visitor.activity);
  await visitor.press('G');
  await visitor.sees('Run ended', visitor.activity);
  expect(await visitor.countNodes()).toBeLessThan(MOST_NODES);
});

test('the first load is small', async () => {
  const visitor = await theatre.visit();
  await visitor.go('/');
  await visitor.page.locator(`a[data-run="${LONG}"]`).waitFor();
  await visitor.page.waitForLoadState('networkidle');
  const bytes = await visitor.page.evaluate(() =>
    performance
      .getEntriesByType('resource')
      .filter((entry) => entry.name.endsWith('.js'))
      .reduce((sum, entry) => sum + (entry as PerformanceResourceTiming).encodedBodySize, 0),
  );
  expect(bytes).toBeGreaterThan(50_000);
  expect(bytes).toBeLessThan(MOST_SCRIPT_BYTES);
});
