import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from 'vitest';
import type { Visitor } from './visitor';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  id: string;
  impact: string;
  nodes: { html: string; failureSummary: string }[];
}

/** Waits until nothing loads any more that was asked for later: highlighting, diffs, markdown. */
export async function settles(visitor: Visitor): Promise<void> {
  await visitor.page.waitForLoadState('networkidle');
  await visitor.page.evaluate(() => document.fonts.ready.then(() => undefined));
}

/** What is serious or worse by axe, in words. */
export async function violationsIn(visitor: Visitor): Promise<string[]> {
  // Given by the debugger, which the page's policy does not concern: it forbids script elements.
  const session = await visitor.context.newCDPSession(visitor.page);
  await session.send('Runtime.evaluate', { expression: axe });
  const found = await visitor.page.evaluate(async () => {
    type Report = { violations: Violation[]; passes: unknown[] };
    const { axe } = globalThis as unknown as { axe: { run: () => Promise<Report> } };
    const { violations, passes } = await axe.run();
    return { violations, passes: passes.length };
  });
  await session.detach();
  // A tool that looked at nothing finds nothing.
  expect(found.passes).toBeGreaterThan(10);
  return found.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`));
}
