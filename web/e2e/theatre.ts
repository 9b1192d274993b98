import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import type { Server } from './server';
import { Stage } from './stage';
import { openBrowser, type VisitOptions, Visitor } from './visitor';

/** What the tests of a file share: a stage, a server on it, and a browser. */
export interface Theatre {
  stage: Stage;
  server: Server;
  browser: Browser;
  /** Somebody with a browser of their own, who leaves when the test ends. */
  visit: (options?: VisitOptions) => Promise<Visitor>;
}

/** Sets the stage for a file of tests, and clears it whatever happens. Runs written by `prepare` are there when the
 * server starts. */
export function openTheatre(prepare: (stage: Stage) => void = () => {}): Theatre {
  const visitors: Visitor[] = [];
  const theatre = {} as Theatre;
  beforeAll(async () => {
    theatre.stage = new Stage();
    prepare(theatre.stage);
    [theatre.server, theatre.browser] = await Promise.all([theatre.stage.serve(), openBrowser()]);
    theatre.visit = async (options) => {
      const visitor = await Visitor.come(theatre.browser, theatre.server, options);
      visitors.push(visitor);
      return visitor;
    };
  });
  afterEach(async ({ task }) => {
    const folder = process.env.E2E_PICTURES;
    if (folder && task.result?.state === 'fail') {
      for (const [at, { page }] of visitors.entries()) {
        await page.screenshot({ path: `${folder}/${task.name.replaceAll(/\W+/g, '-')}-${at}.png` });
      }
    }
    for (const visitor of visitors.splice(0)) await visitor.leave();
  });
  afterAll(async () => {
    await theatre.browser?.close();
    theatre.stage?.close();
  });
  return theatre;
}
