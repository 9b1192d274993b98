import { expect, test } from 'vitest';
import { openTheatre } from './theatre';
import type { Visitor } from './visitor';

const theatre = openTheatre();

/** What is seen, which is more than what is written on the element. */
const look = ({ page }: Visitor) =>
  page.evaluate(() => ({
    theme: document.documentElement.dataset.theme,
    scheme: getComputedStyle(document.documentElement).colorScheme,
    paper: getComputedStyle(document.body).backgroundColor,
  }));

test('colours are switched by a key and by a button, and stay after a reload', async () => {
  const visitor = await theatre.visit({ theme: 'dark' });
  await visitor.go('/');
  await visitor.button('Colours: as the system. Switch.').waitFor();
  const dark = await look(visitor);
  expect(dark.theme).toBe('dark');
  await visitor.press('t');
  await visitor.button('Colours: light. Switch.').waitFor();
  const light = await look(visitor);
  expect(light.theme).toBe('light');
  expect(light.paper).not.toBe(dark.paper);
  expect(light.scheme).not.toBe(dark.scheme);
  await visitor.page.reload();
  const button = visitor.button('Colours: light. Switch.');
  await button.waitFor();
  expect(await look(visitor)).toEqual(light);
  await button.click();
  await visitor.button('Colours: dark. Switch.').waitFor();
  await expect.poll(() => look(visitor)).toEqual(dark);
});

test('with reduced motion new colours are there at once, without a transition', async () => {
  const visitor = await theatre.visit({ theme: 'dark' });
  await visitor.go('/');
  const button = visitor.button('Colours: as the system. Switch.');
  const before = await look(visitor);
  // In one evaluation, so that no frame can be drawn between the click and the look.
  const paper = await button.evaluate((element) => {
    (element as HTMLElement).click();
    return getComputedStyle(document.body).backgroundColor;
  });
  expect(paper).not.toBe(before.paper);
});

test('who chose nothing has the colours of the system, also when they change', async () => {
  const visitor = await theatre.visit({ theme: 'light' });
  await visitor.go('/');
  await visitor.button('Colours: as the system. Switch.').waitFor();
  expect((await look(visitor)).theme).toBe('light');
  await visitor.page.emulateMedia({ colorScheme: 'dark' });
  await expect.poll(async () => (await look(visitor)).theme).toBe('dark');
});
