// @vitest-environment node
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

const DIST = resolve(import.meta.dirname, '../dist');
const MOST_BYTES = 250_000;

/** A script and everything that it imports at once. */
function addImports(file: string, found: Set<string>): void {
  if (found.has(file)) return;
  found.add(file);
  const text = readFileSync(file, 'utf8');
  for (const [, name] of text.matchAll(/\b(?:from|import)\s*["'](\.\/[^"']+\.js)["']/g)) {
    if (name) addImports(join(dirname(file), name), found);
  }
}

/** The scripts of the page and of the route that it opens, as far as they are built. */
function scriptsOf(route: string): Set<string> {
  const found = new Set<string>();
  const page = readFileSync(join(DIST, 'index.html'), 'utf8');
  for (const [, name] of page.matchAll(/(?:src|href)="(\/assets\/[^"]+\.js)"/g)) {
    if (name) addImports(join(DIST, name), found);
  }
  const all = [...found].map((file) => readFileSync(file, 'utf8')).join('\n');
  const chunk = all.match(new RegExp(`\\./(${route}-[^"'\`]+\\.js)`))?.[1];
  if (!chunk) throw new Error(`there is no script of ${route}`);
  addImports(join(DIST, 'assets', chunk), found);
  return found;
}

test.runIf(existsSync(join(DIST, 'index.html')))('the first load of a page is small', () => {
  for (const route of ['RunsPage', 'RunPage']) {
    const bytes = [...scriptsOf(route)].reduce((sum, file) => sum + gzipSync(readFileSync(file)).length, 0);
    expect(bytes, route).toBeGreaterThan(50_000);
    expect(bytes, route).toBeLessThan(MOST_BYTES);
  }
});
