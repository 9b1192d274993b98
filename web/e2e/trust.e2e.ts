import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openTheatre } from './theatre';

const theatre = openTheatre();

/** A repository that somebody else wrote. */
function clone(name: string): string {
  const workspace = theatre.stage.path(`projects/${name}`);
  mkdirSync(workspace, { recursive: true });
  writeFileSync(
    join(workspace, 'ralph.yml'),
    'cli: {backend: demo}\nverify: ["./check.sh", "touch proof\\u202e"]\ntools: [Bash]\n',
  );
  writeFileSync(join(workspace, 'check.sh'), '#!/bin/sh\ntouch checked\n', { mode: 0o755 });
  return workspace;
}

test('a workspace that is not trusted starts only after a person has seen what it runs', async () => {
  const { server, visit } = theatre;
  const workspace = clone('cloned');
  const visitor = await visit();
  visitor.expectFault(/409/);
  await visitor.go('/new');
  const { page } = visitor;
  await page.getByRole('combobox', { name: 'Workspace' }).fill(workspace);
  await page.getByRole('textbox', { name: 'Prompt' }).fill('Explain this.');
  await page.getByRole('radio', { name: /Demo/ }).check();
  await visitor.button('Start the run').click();
  const dialog = page.getByRole('dialog', { name: 'Trust this workspace?' });
  await dialog.getByText('./check.sh').first().waitFor();
  await visitor.sees(/touch proof.*202e/i, dialog);
  await visitor.sees('runs a program', dialog);
  await visitor.sees('lets the agent do more without asking', dialog);
  // The file changes while the person reads: what was read is not what would run.
  writeFileSync(join(workspace, 'check.sh'), '#!/bin/sh\ntouch stolen\n', { mode: 0o755 });
  await dialog.getByRole('button', { name: 'Trust and start' }).click();
  await visitor.sees(/changed since it was shown/, dialog);
  expect((await server.ask('GET', '/api/v1/runs')).items).toEqual([]);
  writeFileSync(join(workspace, 'check.sh'), '#!/bin/sh\ntouch checked\n', { mode: 0o755 });
  await dialog.getByRole('button', { name: 'Trust and start' }).click();
  await visitor.sees(/changed since it was shown/, dialog);
  await dialog.getByRole('button', { name: 'Trust and start' }).click();
  await page.waitForURL(/\/runs\//);
  expect(existsSync(join(workspace, 'stolen'))).toBe(false);
  const [run] = (await server.ask('GET', '/api/v1/runs')).items;
  await server.ask('POST', `/api/v1/runs/${run.id}/stop`, {});
});

test('a run can start without what is not trusted, and nothing of it runs', async () => {
  const { stage, server, visit } = theatre;
  const workspace = clone('left-out');
  const visitor = await visit();
  visitor.expectFault(/409/);
  await visitor.go('/new');
  const { page } = visitor;
  await page.getByRole('combobox', { name: 'Workspace' }).fill(workspace);
  await page.getByRole('textbox', { name: 'Prompt' }).fill('Explain this.');
  await page.getByRole('radio', { name: /Demo/ }).check();
  await visitor.button('Start the run').click();
  const dialog = page.getByRole('dialog', { name: 'Trust this workspace?' });
  await dialog.getByRole('button', { name: 'Start without these settings' }).click();
  await page.waitForURL(/\/runs\//);
  const run = page.url().split('/').at(-1) ?? '';
  await server.ask('POST', `/api/v1/runs/${run}/stop`, {});
  await server.becomes(run, 'ended');
  const [started] = stage.journal(run);
  expect(started?.event.data.verify ?? []).toEqual([]);
  for (const proof of ['checked', 'proof']) expect(existsSync(join(workspace, proof))).toBe(false);
});
