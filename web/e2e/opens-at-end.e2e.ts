import { afterAll, beforeAll, expect, test } from 'vitest';
import { settles } from './axe';
import { showsEverything } from './showcase';
import { openTheatre } from './theatre';

const theatre = openTheatre();

let run = '';
beforeAll(async () => {
  const { stage, server } = theatre;
  run = await server.start(stage.workspace('greeter', showsEverything(stage.path('gate'))));
  await server.becomes(run, 'waiting');
});
afterAll(() => theatre.stage.open('gate'));

// Whether the browser lays the rows out late is a matter of chance: of six visits one was likely to end in the middle.
test('a run opens at its end on a phone, also when its rows are laid out late', async () => {
  for (let visit = 0; visit < 6; visit += 1) {
    const visitor = await theatre.visit({ width: 375, height: 720, isTouch: true });
    await visitor.go(`/runs/${run}`);
    const latest = visitor.activity.getByRole('article').filter({ hasText: 'cargo test --workspace' });
    await latest.last().waitFor();
    await settles(visitor);
    const below = () =>
      visitor.activity.evaluate((list) => list.scrollHeight - list.clientHeight - list.scrollTop);
    await expect.poll(below, { message: `visit ${visit}` }).toBeLessThan(5);
    await visitor.page.close();
  }
});
