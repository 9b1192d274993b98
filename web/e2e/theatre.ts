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

/** Sets the stage for a file of tests, and clears it whatever happens. */
export function useTheatre(): Theatre {
  const visitors: Visitor[] = [];
  const theatre = {} as Theatre;
  beforeAll(async () => {
    theatre.stage = new Stage();
    [theatre.server, theatre.browser] = await Promise.all([theatre.stage.serve(), openBrowser()]);
    theatre.visit = async (options) => {
      const visitor = await Visitor.come(theatre.browser, theatre.server, options);
      visitors.push(visitor);
      return visitor;
    };
  });
  afterEach(async () => {
    for (const visitor of visitors.splice(0)) await visitor.leave();
  });
  afterAll(async () => {
    await theatre.browser?.close();
    theatre.stage?.close();
  });
  return theatre;
}
